import SocketCore

/// The WebSocket options of a user, in addition to the address.
package struct WebSocketChoices: Equatable, Sendable {
    /// The protocols to offer, or to choose from, the preferred one first.
    package var subprotocols: [String] = []
    /// Fields to add to a client's request.
    package var fields: [HTTPField] = []
    /// Whether messages may be compressed.
    package var compresses = true

    package init() {}

    /// Whether there are no options.
    package var isEmpty: Bool { self == WebSocketChoices() }
}

extension WebSocketMessage {
    /// Returns text if the bytes are valid text, and otherwise binary.
    package static func type(of bytes: [UInt8]) -> WebSocketMessageType {
        String(validating: bytes, as: UTF8.self) == nil ? .binary : .text
    }
}
