import Glibc
import InspectorCore
import SocketKit

/// What is looked at: the engine of this process. Nothing here waits; answers come on any thread.
protocol Inspected: Sendable {
    /// Takes a snapshot when the engine comes round to it.
    func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot) -> Void)
    /// Posts a command; what it did shows in later snapshots.
    func send(_ command: SocketCommand)
    /// Queues a write and waits until the kernel has all of it.
    /// - Throws: why it failed.
    func write(_ request: WriteRequest, to id: SocketID) async throws(SocketError)
    /// Queues a message of a WebSocket and waits until the kernel has all of it.
    /// - Throws: why it failed.
    func send(_ message: WebSocketMessage, to id: SocketID) async throws(SocketError)
    /// Begins a binary message of a WebSocket whose parts follow.
    /// - Throws: why it cannot.
    func stream(to id: SocketID) async throws(SocketError) -> WebSocketStream
    /// Makes a socket reply by rules, or by none; answers with why it cannot, or nil.
    func setReplies(_ id: SocketID, _ rules: [ReplyRule], then: @escaping @Sendable (SocketError?) -> Void)
    /// Opens a connection; answers with its name, or why it was refused at the call.
    func connect(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void)
    /// Listens; answers with the listener's name, or why it was refused.
    func listen(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void)
    /// Asks for TLS on a connection; answers with why it was refused at the call, or nil.
    func startTLS(_ id: SocketID, _ settings: TLSSettings, then: @escaping @Sendable (SocketError?) -> Void)
    /// Relays; answers with the listener's name, or why it was refused.
    func relay(_ request: RelayRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void)
    /// Looks at programs that let themselves be inspected; answers with how many there were, or why there is none.
    func attach(_ name: String, then: @escaping @Sendable (Result<Int, SocketError>) -> Void)
    /// The process that a session lives in.
    func process(of id: SocketID) -> Int
    /// Whether such programs have told what the last snapshot asked for, as far as they will.
    var hasAnswered: Bool { get }
    /// What is new of such programs; nil: there are none.
    func news() -> ProgramNews?
    /// Leaves nothing behind that others could see; the program is about to end.
    func close()
    /// Starts the demo world; answers with why it could not start, or nil.
    func startDemo(then: @escaping @Sendable (SocketError?) -> Void)
}

extension Inspected {
    func attach(_ name: String, then: @escaping @Sendable (Result<Int, SocketError>) -> Void) {
        then(.failure(SocketError(.badConfiguration, operation: "attach", detail: "nothing can be attached to here")))
    }

    var hasAnswered: Bool { true }

    func news() -> ProgramNews? { nil }

    func process(of id: SocketID) -> Int { Int(getpid()) }

    func relay(_ request: RelayRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {
        then(.failure(SocketError(.badConfiguration, operation: "relay", detail: "nothing can be relayed here")))
    }

    func setReplies(_ id: SocketID, _ rules: [ReplyRule], then: @escaping @Sendable (SocketError?) -> Void) {
        then(
            SocketError(
                .other, operation: "reply", detail: "\(id): only what was opened here can reply by itself"))
    }

    func write(_ request: WriteRequest, to id: SocketID) async throws(SocketError) { throw .notOurs }

    func send(_ message: WebSocketMessage, to id: SocketID) async throws(SocketError) { throw .notOurs }

    func stream(to id: SocketID) async throws(SocketError) -> WebSocketStream { throw .notOurs }
}

extension SocketError {
    /// A socket of another program cannot be sent that.
    static let notOurs = SocketError(
        .other, operation: "write", detail: "only the sockets of this program can be sent files and macros")
}

/// An engine that has no sockets and opens none.
struct NothingInspected: Inspected {
    func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot) -> Void) {
        then(EngineSnapshot(engine: "none", time: .zero, wallNanoseconds: 0))
    }

    func send(_ command: SocketCommand) {}

    func close() {}

    func connect(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {
        then(.failure(Self.refusal("connect")))
    }

    func listen(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {
        then(.failure(Self.refusal("listen")))
    }

    func startTLS(_ id: SocketID, _ settings: TLSSettings, then: @escaping @Sendable (SocketError?) -> Void) {
        then(Self.refusal("startTLS"))
    }

    func startDemo(then: @escaping @Sendable (SocketError?) -> Void) { then(Self.refusal("demo")) }

    private static func refusal(_ operation: String) -> SocketError {
        SocketError(.badConfiguration, operation: operation, detail: "there is no engine here")
    }
}
