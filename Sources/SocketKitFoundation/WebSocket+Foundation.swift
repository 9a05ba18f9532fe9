public import Foundation
public import SocketKit

/// WebSockets with Foundation's types.
extension WebSocket {
    /// Begins to open the WebSocket of a `ws` or `wss` URL, as `connect(to:)` with a string does.
    /// - Throws: `badParameter` for a URL that is not one of a WebSocket, with a sentence that names it.
    public func connect(to url: URL) throws(SocketError) {
        try connect(to: url.absoluteString)
    }

    /// Queues a binary message and names it, as `write(_:)` with `[UInt8]` does.
    @discardableResult
    public func write(_ data: Data) -> OperationID { write([UInt8](data)) }

    /// Sends a binary message and returns when the transport has all of it.
    public func send(_ data: Data) async throws(SocketError) { try await send([UInt8](data)) }
}

extension WebSocketMessage {
    /// A binary message of these bytes.
    public static func binary(_ data: Data) -> WebSocketMessage { WebSocketMessage(.binary, [UInt8](data)) }

    /// Its bytes; of a text, UTF-8.
    public var data: Data { Data(bytes) }
}
