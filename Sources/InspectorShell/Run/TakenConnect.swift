import CSockTUIRun
import Glibc
import InspectorCore
import SocketCore
import SocketKit

/// One connect of a program, from its call until its socket is connected, and what is answered about the socket then.
struct TakenConnect {
    enum Phase {
        /// The program's call waits, and its socket is untouched. `socket` is a duplicate of it.
        case asked(socket: Int32)
        /// The program's socket is connecting, as it would be to the target. `from` is its own address.
        case inProgress(from: KernelAddress)
        /// The program's socket is connected before its target is. `leg` is our end of it.
        case early(leg: Int32)
        case connected
        /// The program has yet to learn why its connect failed.
        case failed(Int32)
    }

    /// The number by which the kernel knows the socket.
    var cookie: UInt64
    /// The number of its file, by which calls name it, or 0 if they are not traced.
    var file: UInt64 = 0
    /// The program's descriptor by which it connects the socket.
    let descriptor: Int32
    let closesOnExec: Bool
    /// The target as the program gave it.
    let target: KernelAddress
    let isNonblocking: Bool
    /// The port that the socket had before, which stays the one that the program is told, or 0.
    let ownPort: UInt16
    /// Whether the connect succeeds before the target answers: MPTCP has no simultaneous open.
    let isEarly: Bool
    var phase: Phase
    /// The call that waits for the connect.
    var call: UInt64
    /// The answer that a signal kept from the call, for the call that begins again.
    var owed: Int32?
    /// What a call for the socket's error writes to, if it waits instead. See `ConnectLoop.tellError(_:)`.
    var errorCall: ErrorCall?
    /// SO_SNDTIMEO, or `nil` for none.
    var timeout: Duration?
    /// When the waiting call ends by it, or `nil` if never.
    var deadline: ContinuousClock.Instant?
    /// Whether the waiting call is not the first one.
    var isAgain = false
    /// Whether the program was told of the signal that interrupted the call.
    var isInterrupted = false
    /// Since when nobody has waited, or `nil` if somebody does.
    var leftSince: ContinuousClock.Instant?
    /// The address on this host of the leg to the target.
    var local: KernelAddress?

    /// The socket that is held for the program, or `nil`.
    var held: Int32? { if case .asked(let socket) = phase { socket } else { nil } }

    /// Whether nothing is done for it any longer, unless the program asks.
    var isOver: Bool {
        switch phase {
        case .connected, .failed: true
        case .asked, .inProgress, .early: false
        }
    }

    /// Whether a call waits for the target, and nothing else does.
    var isWaiting: Bool { held != nil && !isNonblocking }
}

/// A call of getsockopt(2) for SO_ERROR.
struct ErrorCall {
    let id: UInt64
    let thread: Int32
    let value: UInt64
    let length: UInt64
}

/// What is counted by the thread that answers, and read by others.
package final class PassedTally: Sendable {
    private let state = Lock(PassedConnects())

    package init() {}

    package var value: PassedConnects { state.withLock { $0 } }

    func change(_ body: (inout PassedConnects) -> Void) { state.withLock { body(&$0) } }

    /// Names the program that a call is about to run, if it would gain rights without the filter.
    func addLimited(_ notice: crun_notice) {
        var (notice, name) = (notice, [CChar](repeating: 0, count: Int(CRUN_NAME)))
        guard crun_gains_rights(&notice, &name) != 0 else { return }
        let text = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        change { $0.addLimited(text) }
    }
}
