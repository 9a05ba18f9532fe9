import InspectorCore
import SocketKit

/// A source that also opens sockets, and sends more than commands carry: the engine of this program. Nothing here waits;
/// answers come on any thread.
protocol OpeningSource: SocketSource {
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
    /// Starts TLS on a connection; answers with why it was refused at the call, or nil.
    func startTLS(_ id: SocketID, _ settings: TLSSettings, then: @escaping @Sendable (SocketError?) -> Void)
    /// Relays; answers with the listener's name, or why it was refused.
    func relay(_ request: RelayRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void)
    /// Starts the demo world; answers with why it could not start, or nil.
    func startDemo(then: @escaping @Sendable (SocketError?) -> Void)
}
