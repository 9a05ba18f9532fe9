import CSockTUIRun
import Glibc
import InspectorCore
import SocketCore
import SocketKit

/// The calls of a program that is traced. Whoever shows them takes them; what finds no room until then is counted.
final class CallTap: Sendable {
    fileprivate struct State {
        /// Where the tracer puts them, or a null pointer once nothing is read there any longer.
        var memory: LibraryPointer
        var taken: [SocketCall] = []
        /// The numbers of the sockets' files, for those that were taken.
        var files: [UInt64] = []
        var gathering = CallGathering()
        /// The processes that were noted to have an io_uring, each for one place of the tracer's.
        var ringed: Set<Int> = []
        var ledger = CallLedger()
        var losses = CallLosses()
    }

    private let state: Lock<State>
    private let tracer: crun_tracer
    private let relay: ConnectRelay

    /// The tracer's table. A call that is not handed on has no name.
    static let names: [String] = (0...).lazy.map { crun_call_name(Int32($0)) }.prefix { $0 != nil }
        .map { $0.map { String(cString: $0) } ?? "" }
    private static let kinds = names.map { SocketCall.Kind(rawValue: $0) }

    /// The most that are copied at once.
    fileprivate static let piece = 512
    private static let mostRings = 16

    /// Returns `nil` if there is no memory.
    init?(_ tracer: crun_tracer, relay: ConnectRelay) {
        guard let memory = crun_map_calls(tracer.memory) else { return nil }
        (self.tracer, self.relay) = (tracer, relay)
        state = Lock(State(memory: LibraryPointer(memory)))
    }

    /// Copies what the tracer has put there. It is done before a look at the sessions, so that the look includes the
    /// connections on which the calls were made.
    func collect() { state.withLock { $0.collect() } }

    /// Adds a call that the tracer does not see, after all that came before it. `file` is the number of its socket's file.
    func note(_ call: SocketCall, file: UInt64) {
        state.withLock { state in
            state.collect()
            state.add(call, file: file)
        }
    }

    /// Notes that a process is about to get an io_uring.
    func noteRing(of process: Int) {
        state.withLock { state in
            guard let memory = state.memory.pointer, state.ringed.insert(process).inserted else { return }
            crun_note_ring(memory, Int32(process))
            let rings = Set(state.losses.rings).union([process])
            if rings.count <= Self.mostRings { state.losses.rings = rings.sorted() }
        }
    }

    /// Returns all calls that were collected, with their sessions.
    func ledger(ordinal: Int) -> CallLedger {
        state.withLock { state in
            let sessions = relay.sessions(of: Set(state.files))
            for (index, file) in state.files.enumerated() {
                state.taken[index].id = sessions[file].map { SocketID($0.number, of: ordinal) }
            }
            state.ledger.absorb(state.taken, state.losses)
            (state.taken, state.files) = ([], [])
            return state.ledger
        }
    }

    var losses: CallLosses { state.withLock { $0.losses } }

    /// Takes the end of the tracer, which is the end of all that it traced.
    func close() {
        Glibc.close(tracer.watch)
        ChildRunner.reap(tracer.process)
        collect()
        state.withLock { state in
            state.endAll()
            crun_unmap_calls(state.memory.pointer)
            state.memory = LibraryPointer(nil)
        }
        Glibc.close(tracer.memory)
    }

    fileprivate static func call(_ record: crun_traced_call) -> SocketCall? {
        guard let kind = kinds.indices.contains(Int(record.row)) ? kinds[Int(record.row)] : nil else { return nil }
        let state: SocketCall.State
        switch crun_moment(UInt32(record.moment)) {
        case CRUN_BEGUN: state = .waits
        case CRUN_VANISHED: state = .vanished
        default: state = record.error == 0 ? .returned(record.returned) : .failed(record.error)
        }
        var call = SocketCall(
            process: Int(record.process), thread: Int(record.thread), kind, descriptor: Int(record.descriptor),
            asked: record.asked < 0 ? nil : record.asked, state, began: MonotonicTime(nanoseconds: record.began),
            took: state == .waits ? nil : .nanoseconds(record.ended - record.began))
        guard kind.returns == .ready else { return call }
        call.poll = SocketCall.Poll(
            descriptors: record.count < 0 ? nil : Int(record.count),
            timeout: record.timeout < 0 ? nil : .nanoseconds(record.timeout))
        return call
    }
}

extension CallTap.State {
    fileprivate mutating func collect() {
        guard let memory = memory.pointer else { return }
        var records = [crun_traced_call](repeating: crun_traced_call(), count: CallTap.piece)
        while case let count = Int(crun_take_calls(memory, &records, Int32(CallTap.piece))), count > 0 {
            for record in records.prefix(count) {
                guard var call = CallTap.call(record) else { continue }
                gathering.absorb(&call, at: record.address)
                add(call, file: record.file)
            }
        }
        losses.lost = crun_lost_calls(memory)
        losses.strangePrograms = crun_strange_programs(memory)
        losses.hiddenPrograms = crun_hidden_programs(memory)
    }

    /// Ends the calls that still wait: their threads ended with the tracer.
    fileprivate mutating func endAll() {
        var waiting = ledger.waiting
        var last = files.indices.reduce(into: [Int: UInt64]()) { $0[taken[$1].thread] = files[$1] }
        for call in taken { waiting[call.thread] = call.isWaiting ? call : nil }
        for var call in waiting.values.sorted(by: { $0.began < $1.began }) {
            call.state = .vanished
            add(call, file: last.removeValue(forKey: call.thread) ?? 0)
        }
    }

    /// Adds a call. Of the many that only look which descriptors are ready, nothing is kept.
    fileprivate mutating func add(_ call: SocketCall, file: UInt64) {
        if call.isBrief, let last = taken.last, last.isWaiting, last.thread == call.thread {
            taken.removeLast()
            files.removeLast()
            return
        }
        taken.append(call)
        files.append(file)
    }
}

extension crun_tracer {
    func closeDescriptors() {
        for descriptor in [memory, watch] where descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// Takes the end of a tracer that traces nothing.
    func forget() {
        closeDescriptors()
        if process > 0 { ChildRunner.reap(process) }
    }
}
