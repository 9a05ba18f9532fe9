public import Foundation
public import SocketKit

/// WebSockets with Foundation's types.
extension WebSocket {
    /// Starts opening the WebSocket of a `ws` or `wss` URL, as `connect(to:)` with a string does.
    /// - Throws: `badParameter` if the URL is not a WebSocket URL, with a sentence that names it.
    public func connect(to url: URL) throws(SocketError) {
        try connect(to: url.absoluteString)
    }

    /// Queues a binary message and returns its identifier, as `write(_:)` with `[UInt8]` does.
    @discardableResult
    public func write(_ data: Data) -> OperationID { write([UInt8](data)) }

    /// Sends a binary message and returns when the transport has accepted all of it.
    public func send(_ data: Data) async throws(SocketError) { try await send([UInt8](data)) }
}

extension WebSocketMessage {
    /// Creates a binary message.
    public static func binary(_ data: Data) -> WebSocketMessage { WebSocketMessage(.binary, [UInt8](data)) }

    /// The message's bytes, in UTF-8 for a text.
    public var data: Data { Data(bytes) }
}
