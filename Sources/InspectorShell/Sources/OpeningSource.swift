import InspectorCore
import SocketKit

/// A source that can also open sockets and send more than commands can carry: this program's engine. Nothing here
/// waits. Answers arrive on any thread.
package protocol OpeningSource: SocketSource {
    /// Queues a write and suspends until the kernel has accepted all of it.
    /// - Throws: the reason if it failed.
    func write(_ request: WriteRequest, to id: SocketID) async throws(SocketError)
    /// Queues a WebSocket message and suspends until the kernel has accepted all of it.
    /// - Throws: the reason if it failed.
    func send(_ message: WebSocketMessage, to id: SocketID) async throws(SocketError)
    /// Starts a binary WebSocket message whose parts follow.
    /// - Throws: the reason if that is not possible.
    func stream(to id: SocketID) async throws(SocketError) -> WebSocketStream
    /// Sets a socket's auto-reply rules, or none. Answers with the reason if that fails, or with `nil`.
    func setReplies(_ id: SocketID, _ rules: [ReplyRule], then: @escaping @Sendable (SocketError?) -> Void)
    /// Opens a connection. Answers with its name, or with the error if it was rejected at the call.
    func connect(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void)
    /// Opens a listener. Answers with its name, or with the error.
    func listen(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void)
    /// Starts TLS on a connection. Answers with the error if it was rejected at the call, or with `nil`.
    func startTLS(_ id: SocketID, _ settings: TLSSettings, then: @escaping @Sendable (SocketError?) -> Void)
    /// Opens a relay. Answers with the listener's name, or with the error.
    func relay(_ request: RelayRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void)
    /// Returns a relay for the connects of a program, or `nil` if this source has none.
    func connectRelay(timeout: Duration?) -> ConnectRelay?
    /// Starts the demo. Answers with the error if that failed, or with `nil`.
    func startDemo(then: @escaping @Sendable (SocketError?) -> Void)
}

extension OpeningSource {
    package func connectRelay(timeout: Duration?) -> ConnectRelay? { nil }
}
