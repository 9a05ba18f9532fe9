import Dispatch
import SocketKit
import SocketWorkshop

/// Applies rules to one association of a datagram relay. Everything runs on the engine's queue.
package final class FaultedAssociation: Sendable {
    private struct State {
        var upstream: DatagramFaults
        var downstream: DatagramFaults
        /// The rules that apply to the association, for display.
        var rules: [NumberedFault] = []

        subscript(_ direction: FaultDirection) -> DatagramFaults {
            get { direction == .upstream ? upstream : downstream }
            _modify {
                if direction == .upstream { yield &upstream } else { yield &downstream }
            }
        }

        var snapshot: FaultSnapshot {
            var snapshot = FaultSnapshot()
            let tallies = upstream.tallies + downstream.tallies
            snapshot.rules = rules.map { fault in
                FaultSnapshot.Rule(
                    number: fault.number, effect: fault.rule.effect.name, text: fault.rule.aimedEffect,
                    count: tallies.reduce(0) { $0 + ($1.number == fault.number ? $1.count : 0) })
            }
            snapshot.delayedBytes = upstream.delayedBytes + downstream.delayedBytes
            snapshot.droppedBytes = upstream.droppedBytes + downstream.droppedBytes
            snapshot.isLimitedByBuffer = upstream.overflowed + downstream.overflowed > 0
            return snapshot
        }
    }

    private let socket: DatagramSocket
    private let state: Lock<State>
    private let alarm: FaultAlarm
    private let meter = FaultMeter()
    private let clock = SystemClock()
    private let answer: @Sendable ([UInt8]) -> Void

    /// `number` is the association's number on its relay, counted from 1. `answer` sends a datagram to the client.
    package init(
        _ number: UInt64, _ socket: DatagramSocket, seed: UInt64, delayBuffer: Int, on queue: DispatchQueue,
        answer: @escaping @Sendable ([UInt8]) -> Void
    ) {
        (self.socket, self.answer, alarm) = (socket, answer, FaultAlarm(queue))
        let began = clock.now
        func faults(_ direction: FaultDirection) -> DatagramFaults {
            let place = FaultPlace(seed: seed, connection: number, direction: direction, began: began)
            return DatagramFaults(place, delayBuffer: delayBuffer)
        }
        state = Lock(State(upstream: faults(.upstream), downstream: faults(.downstream)))
        socket.showFaults(meter)
    }

    package func add(_ rule: NumberedFault) {
        state.withLock { state in
            guard !state.rules.contains(where: { $0.number == rule.number }) else { return }
            state.rules.append(rule)
            state.upstream.add(rule)
            state.downstream.add(rule)
        }
        measure()
    }

    package func remove(_ number: Int) {
        let now = clock.now
        for direction in FaultDirection.allCases {
            perform(state.withLock { $0[direction].remove(rule: number, now) }, direction, now)
        }
        state.withLock { $0.rules.removeAll { $0.number == number } }
        measure()
    }

    package func receive(_ datagram: [UInt8], _ direction: FaultDirection) {
        let now = clock.now
        perform(state.withLock { $0[direction].receive(datagram, now) }, direction, now)
        measure()
    }

    /// Whether a delayed datagram is queued here.
    package var isWaiting: Bool { state.withLock { $0.upstream.isWaiting || $0.downstream.isWaiting } }

    private func wake() {
        let now = clock.now
        for direction in FaultDirection.allCases {
            perform(state.withLock { $0[direction].wake(now) }, direction, now)
        }
        measure()
    }

    private func perform(_ actions: [DatagramFaults.Action], _ direction: FaultDirection, _ now: MonotonicTime) {
        for action in actions {
            switch action {
            case .deliver(let datagram):
                if direction == .upstream { socket.send(datagram) } else { answer(datagram) }
            case .wake(let time): alarm.set(time, now) { @Sendable [weak self] in self?.wake() }
            case .report(let report):
                socket.recordFault(report.number, at: report.offset.map { Int(clamping: $0) } ?? -1)
            }
        }
    }

    private func measure() { meter.show(state.withLock { $0.snapshot }) }
}
