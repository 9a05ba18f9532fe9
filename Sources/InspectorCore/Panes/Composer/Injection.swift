import SocketCore

/// Where a typed line goes that is written into a connection of others: a relayed one, or one of another program.
package struct Injection: Hashable, Sendable {
    /// The connection that the bytes are written to.
    package var id: SocketID
    /// The same as it is shown, or `nil` if it is no longer listed.
    package var socket: SocketSnapshot?
    /// Who receives them: `the server`.
    package var receiver: String
    /// Whether they can go to the other end as well.
    package var hasDirections: Bool
}

/// The connection that a line is typed to.
struct Recipient {
    /// Whose line it is.
    var id: SocketID
    /// The connection, while it is listed.
    var socket: SocketSnapshot?
    /// Where the line goes if it is injected.
    var injection: Injection?
    /// Why the line cannot be sent, or `nil` if it can.
    var refusal: String?

    /// The connection that the line is written to, while it is listed.
    var writesTo: SocketSnapshot? { injection.map(\.socket) ?? socket }
}

extension ComposerState {
    /// Where a line goes that is typed here, or `nil` if the connection is this user's own. On either row of a relayed
    /// pair it goes to the server, unless the other direction is chosen.
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

    /// The connection of this number as what a line is typed to. `isOpening`: it will be listed soon.
    func recipient(_ id: SocketID, isOpening: Bool, in shared: Shared) -> Recipient {
        guard let socket = shared.shown?.socket(id) else {
            return Recipient(id: id, refusal: isOpening ? nil : "\(id) is no longer listed")
        }
        if let refusal = shared.owner(of: id)?.refusal(needing: .commands) {
            return Recipient(id: id, socket: socket, refusal: refusal)
        }
        guard let injection = injection(into: socket, in: shared) else {
            return Recipient(id: id, socket: socket, refusal: TalkWords.whyNoWriting(socket))
        }
        return Recipient(
            id: id, socket: socket, injection: injection,
            refusal: injection.socket.map(TalkWords.whyNoWriting) ?? "\(injection.id) is no longer listed")
    }
}
