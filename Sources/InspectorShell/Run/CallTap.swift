import CSockTUIRun
import Glibc
import InspectorCore
import SocketCore
import SocketKit

/// The calls of a program that is traced. Whoever shows them takes them; what finds no room until then is counted.
final class CallTap: Sendable {
    private struct State {
        /// Where the tracer puts them, or a null pointer once nothing is read there any longer.
        var memory: LibraryPointer
        var taken: [SocketCall] = []
        /// The numbers of the sockets' files, for those that were taken.
        var files: [UInt64] = []
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
    private static let piece = 512

    /// Returns `nil` if there is no memory.
    init?(_ tracer: crun_tracer, relay: ConnectRelay) {
        guard let memory = crun_map_calls(tracer.memory) else { return nil }
        (self.tracer, self.relay) = (tracer, relay)
        state = Lock(State(memory: LibraryPointer(memory)))
    }

    /// Copies what the tracer has put there. It is done before a look at the sessions, so that the look includes the
    /// connections on which the calls were made.
    func collect() {
        state.withLock { state in
            guard let memory = state.memory.pointer else { return }
            var records = [crun_traced_call](repeating: crun_traced_call(), count: Self.piece)
            while case let count = Int(crun_take_calls(memory, &records, Int32(Self.piece))), count > 0 {
                for record in records.prefix(count) {
                    guard let call = Self.call(record) else { continue }
                    state.taken.append(call)
                    state.files.append(record.file)
                }
            }
            state.losses = CallLosses(
                lost: crun_lost_calls(memory), strangePrograms: crun_strange_programs(memory),
                hiddenPrograms: crun_hidden_programs(memory))
        }
    }

    /// Takes what was collected, with the sessions of the calls.
    func take(ordinal: Int) -> (calls: [SocketCall], losses: CallLosses) {
        var (calls, files, losses) = state.withLock { state in
            defer { (state.taken, state.files) = ([], []) }
            return (state.taken, state.files, state.losses)
        }
        let sessions = relay.sessions(of: Set(files))
        for (index, file) in files.enumerated() {
            calls[index].id = sessions[file].map { SocketID($0.number, of: ordinal) }
        }
        return (calls, losses)
    }

    /// Takes the end of the tracer, which is the end of all that it traced.
    func close() {
        Glibc.close(tracer.watch)
        ChildRunner.reap(tracer.process)
        collect()
        state.withLock { state in
            crun_unmap_calls(state.memory.pointer)
            state.memory = LibraryPointer(nil)
        }
        Glibc.close(tracer.memory)
    }

    private static func call(_ record: crun_traced_call) -> SocketCall? {
        guard let kind = kinds.indices.contains(Int(record.row)) ? kinds[Int(record.row)] : nil else { return nil }
        let state: SocketCall.State
        switch crun_moment(UInt32(record.moment)) {
        case CRUN_BEGUN: state = .waits
        case CRUN_VANISHED: state = .vanished
        default: state = record.error == 0 ? .returned(record.returned) : .failed(record.error)
        }
        return SocketCall(
            process: Int(record.process), thread: Int(record.thread), kind, descriptor: Int(record.descriptor),
            asked: record.asked < 0 ? nil : record.asked, state, began: MonotonicTime(nanoseconds: record.began),
            took: state == .waits ? nil : .nanoseconds(record.ended - record.began))
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
