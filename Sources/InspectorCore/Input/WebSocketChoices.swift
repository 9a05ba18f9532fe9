import SocketCore

/// What a person says about a WebSocket beside its address.
package struct WebSocketChoices: Hashable, Sendable {
    /// Protocols to offer, or to choose from, the best first.
    package var subprotocols: [String] = []
    /// Fields to add to a client's request.
    package var fields: [HTTPField] = []
    /// Whether messages may be compressed.
    package var compresses = true

    package init() {}

    /// Whether nothing was said.
    package var isEmpty: Bool { self == WebSocketChoices() }
}
