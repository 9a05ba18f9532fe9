import SocketCore

/// The destination of a line that is injected into a relayed connection, or into one of another program.
package struct Injection: Equatable, Sendable {
    /// The connection that the bytes are written to.
    package var id: SocketID
    /// The connection as listed, or `nil` if it is no longer listed.
    package var socket: SocketSnapshot?
    /// The receiver: `the server`.
    package var receiver: String
    /// Whether the other direction can be selected.
    package var hasDirections: Bool
}

/// The connection that a line is typed to.
struct Recipient {
    /// The connection whose line it is.
    var id: SocketID
    /// The connection, while it is listed.
    var socket: SocketSnapshot?
    /// The destination of the line if it is injected.
    var injection: Injection?
    /// The reason why the line cannot be sent, or `nil` if it can.
    var refusal: String?

    /// The connection that the line is written to, while it is listed.
    var writesTo: SocketSnapshot? { injection.map(\.socket) ?? socket }
}

extension ComposerState {
    /// Returns where a line typed here is injected, or `nil` if the connection is this user's own. On either row of a
    /// relayed pair it goes to the server, unless the other direction is selected.
    func injection(into selected: SocketSnapshot, in shared: Shared) -> Injection? {
        if selected.datagrams?.client != nil {
            return Injection(id: selected.id, socket: selected, receiver: "the server", hasDirections: false)
        }
        guard let linked = selected.linked else {
            guard !shared.isOurs(selected.id) else { return nil }
            return Injection(id: selected.id, socket: selected, receiver: "the peer", hasDirections: false)
        }
        let goesToServer = !composer(of: selected.id, in: shared).injectsToClient
        let id = (selected.role == .client) == goesToServer ? selected.id : linked
        return Injection(
            id: id, socket: shared.shown?.socket(id), receiver: goesToServer ? "the server" : "the client",
            hasDirections: true)
    }

    /// Returns a connection as the recipient of a line. `isOpening` is set if it will be listed soon.
    func recipient(_ id: SocketID, isOpening: Bool, in shared: Shared) -> Recipient {
        guard let socket = shared.shown?.socket(id) else {
            return Recipient(id: id, refusal: isOpening ? nil : "\(id) is no longer listed")
        }
        if let refusal = shared.owner(of: id)?.refusal(needing: .commands) {
            return Recipient(id: id, socket: socket, refusal: refusal)
        }
        guard let injection = injection(into: socket, in: shared) else {
            return Recipient(id: id, socket: socket, refusal: TrafficWords.whyNoWriting(socket))
        }
        return Recipient(
            id: id, socket: socket, injection: injection,
            refusal: injection.socket.map(TrafficWords.whyNoWriting) ?? "\(injection.id) is no longer listed")
    }
}
