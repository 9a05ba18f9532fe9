import SocketCore
import SocketRecords

/// The calls of the program that is run as `call` lines: one for each that is over, and for each that waits at the end.
struct CallLines: Sendable {
    private var ledger = CallLedger(limit: 0)

    /// Returns the members of each line.
    mutating func absorb(_ calls: [SocketCall], _ losses: CallLosses?, _ json: SocketJSON) -> [[JSON.Member]] {
        ledger.absorb(calls, losses)
        return calls.filter { !$0.isWaiting }.map { members($0, json) }
    }

    /// Returns the members of each line for a call that waits.
    func close(_ json: SocketJSON) -> [[JSON.Member]] {
        ledger.longestWaiting.map { members($0, json) }
    }

    private func members(_ call: SocketCall, _ json: SocketJSON) -> [JSON.Member] {
        [JSON.Member("time", json.time(call.began + (call.took ?? .zero)))] + json.members(.call(call))
    }
}

extension FactTeller {
    /// One call of the program that is run.
    static func call(_ call: SocketCall?) -> FactTeller {
        FactTeller { tell in
            tell("id", call?.id, "the session of the relay that has the connection; null for any other socket")
            tell.always("process", call?.process, "the process that made it")
            tell.always("thread", call?.thread, "its thread")
            tell.always("call", call?.kind, "the system call", kind: .words(SocketCall.Kind.allCases.map(\.rawValue)))
            tell.always("fd", call?.descriptor, "the descriptor")
            tell("asked_bytes", call?.asked, "the bytes that it asked for; null where the call names none")
            tell(
                "returned_bytes", call?.returnedBytes,
                "the bytes that it moved; null if it failed, or moves none")
            tell("accepted_fd", call?.returnedDescriptor, "the descriptor of an accepted connection")
            tell(
                "errno", call?.errno,
                "why it failed; from 512 on, a signal interrupted it, and it may begin again (errno.h of Linux)")
            tell("error", call?.errno.map(ErrnoWords.name), "its name")
            tell("began", call?.began, "when it began")
            tell(
                "took_s", call?.took,
                "how long it took; null if it still waits. Without `returned_bytes` and `errno`, its thread ended in it"
            )
        }
    }
}
