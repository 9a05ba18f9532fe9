import SocketKit

/// Tasks that send datagrams and receive them. Each datagram has a number of its own.
final class DatagramTasks: AwaitingPlay {
    struct State {
        var outcomes: [Int: Awaits.Outcome] = [:]
        var received: [Int] = []
        var count = 0
        var receiver: DatagramSocket?
        /// What it receives, for tasks.
        var datagrams: Datagrams?
        var senders: [DatagramSocket] = []
    }

    static let port: UInt16 = 7_400
    private static let place = Endpoint.udp(host: Network.host, port: port)
    private unowned let stage: Stage
    private let state: Lock<State>

    init(engine: SocketEngine, stage: Stage) {
        self.stage = stage
        let receiver = DatagramSocket(engine: engine)
        try? receiver.bind(to: Self.place)
        let datagrams = try? receiver.datagrams()
        let senders = stage.stations.compactMap(\.engine).map { DatagramSocket(engine: $0) }
        state = Lock(State(receiver: receiver, datagrams: datagrams, senders: senders))
    }

    // MARK: Acting

    func act() {
        switch stage.chance.below(16) {
        case 0..<9: for _ in 0..<stage.chance.within(1...4) { send() }
        case 9..<15: receive()
        default: if stage.chance.oneIn(8) { stage.chance.pick(state.withLock { $0.senders }).close() }
        }
    }

    private func send() {
        let (number, senders) = state.withLock { state in
            defer { state.count += 1 }
            return (state.count, state.senders)
        }
        guard !senders.isEmpty else { return }
        let sender = stage.chance.pick(senders)
        let destination = stage.chance.oneIn(8) ? Endpoint.udp(host: "a.test", port: 9) : Self.place
        let bytes = [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
        stage.awaits.start(.sendDatagram) { [self] _ in
            var outcome = Awaits.Outcome.value
            do throws(SocketError) {
                try await sender.send(bytes, to: destination)
            } catch {
                outcome = Awaits.Outcome(error)
            }
            // Those to nobody do not count.
            guard destination == Self.place else { return outcome }
            let isMutated = outcome == .value && stage.mutation.strikes(.sendsACancelledDatagram)
            state.withLock { [outcome] in $0.outcomes[number] = isMutated ? .cancelled : outcome }
            return outcome
        }
    }

    private func receive(isLast: Bool = false) {
        guard let datagrams = state.withLock({ $0.datagrams }) else { return }
        stage.awaits.start(.receiveDatagram) { [self] _ in
            var datagrams = datagrams.makeAsyncIterator()
            do throws(SocketError) {
                while let datagram = try await datagrams.next(isolation: nil) {
                    note(datagram.bytes)
                    guard isLast else { return .value }
                }
                return Task.isCancelled ? .cancelled : .value
            } catch {
                return Awaits.Outcome(error)
            }
        }
    }

    private func note(_ bytes: [UInt8]) {
        guard bytes.count == 2 else { return }
        state.withLock { $0.received.append(Int(bytes[0]) << 8 | Int(bytes[1])) }
    }

    // MARK: Ending

    func drain() { receive(isLast: true) }

    func leave() {
        let (receiver, senders) = state.withLock { state in
            defer { (state.receiver, state.datagrams, state.senders) = (nil, nil, []) }
            return (state.receiver, state.senders)
        }
        receiver?.close()
        for sender in senders { sender.close() }
    }

    // MARK: Rules

    func check(isOver: Bool) {
        let (outcomes, received) = state.withLock { ($0.outcomes, $0.received) }
        stage.findings.require(
            Set(received).count == received.count, .datagramsDiffer, "datagrams received twice: \(received)")
        let refused = received.filter { outcomes[$0].map { $0 != .value } ?? false }
        stage.findings.require(refused.isEmpty, .datagramsDiffer, "not sent, and received: \(refused)")
        guard isOver, state.withLock({ $0.receiver })?.session != nil else { return }
        let sent = outcomes.filter { $0.value == .value }.keys
        let drops = stage.kernel.network.withLock { $0.drops(on: Self.port) }
        let missing = Set(sent).subtracting(received)
        stage.findings.require(
            missing.count == drops, .datagramsDiffer,
            "sent and not received: \(missing.sorted()); the kernel dropped \(drops)")
    }
}
