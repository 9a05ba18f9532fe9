import SocketCore
import SocketRecords

/// The calls of the program that is run as `call` lines: one for each that is over, and for each that waits at the end.
struct CallLines: Sendable {
    private var ledger: CallLedger?

    /// Returns the members of a line for each call that is new.
    mutating func absorb(_ found: CallLedger, _ json: SocketJSON) -> [[JSON.Member]] {
        let told = ledger?.next ?? 0
        ledger = found
        guard found.next > told else { return [] }
        let calls = found.ended(from: told)
        let first = found.next - UInt64(calls.count)
        return calls.enumerated().map { members($1, json, sequence: first + UInt64($0)) }
    }

    /// Returns the members of each line for a call that waits.
    func close(_ json: SocketJSON) -> [[JSON.Member]] {
        ledger?.longestWaiting.map { members($0, json, sequence: nil) } ?? []
    }

    private func members(_ call: SocketCall, _ json: SocketJSON, sequence: UInt64?) -> [JSON.Member] {
        [JSON.Member("time", json.time(call.ended ?? call.began))] + json.members(.call(call, sequence: sequence))
    }
}

extension FactTeller {
    /// One call of the program that is run.
    static func call(_ call: SocketCall?, sequence: UInt64? = nil) -> FactTeller {
        FactTeller { tell in
            tell("id", call?.id, "the session of the relay that has the connection; null for any other socket")
            tell.always("process", call?.process, "the process that made it")
            tell.always("thread", call?.thread, "its thread")
            tell.always("call", call?.kind, "the system call", kind: .words(SocketCall.Kind.allCases.map(\.rawValue)))
            tell.always(
                "fd", call?.descriptor,
                "the descriptor; the first socket, or the epoll, of a call that waits for several")
            tell("asked_bytes", call?.asked, "the bytes that it asked for; null where the call names none")
            tell(
                "returned_bytes", call?.returnedBytes,
                "the bytes that it moved; null if it failed, or moves none")
            tell("accepted_fd", call?.returnedDescriptor, "the descriptor of an accepted connection")
            tell.gathered(call?.gathered)
            tell.poll(call)
            tell(
                "errno", call?.errno,
                "why it failed; from 512 on, a signal interrupted it, and it may begin again (errno.h of Linux)")
            tell("error", call?.errno.map(ErrnoWords.name), "its name")
            tell(
                "thread_ended", call.map { $0.state == .vanished },
                "whether its thread ended or executed a program in it")
            tell("began", call?.began, "when it began")
            tell("took_s", call?.took, "how long it took; null if it still waits")
            tell("sequence", sequence, "how many ended before it; a gap says how many are missing. Null if it waits")
        }
    }

    fileprivate mutating func gathered(_ gathered: SocketCall.Gathered?) {
        self(
            "message_asked_bytes", gathered?.asked,
            "if earlier calls read the beginning of its message: what the first of them asked for")
        self("message_had_bytes", gathered?.had, "what these had read")
        self("message_calls", gathered?.calls, "how many these are")
    }

    fileprivate mutating func poll(_ call: SocketCall?) {
        self(
            "fds", call?.poll?.descriptors,
            "how many descriptors it waits for; null for an epoll, and for calls that wait for no descriptors")
        self("timeout_s", call?.poll?.timeout, "how long it may wait for them; null for forever")
        self("ready_fds", call?.readyDescriptors, "how many of them were ready; 0 if the time ran out")
    }
}
