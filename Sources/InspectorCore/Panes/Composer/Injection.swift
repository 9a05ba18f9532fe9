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

extension Model {
    /// Where a line goes that is typed here, or `nil` if the selected connection is this user's own. On either row of a
    /// relayed pair it goes to the server, unless the other direction is chosen.
    package var injection: Injection? {
        guard let selected else { return nil }
        guard let linked = selected.linked else {
            guard !isOurs(selected.id) else { return nil }
            return Injection(id: selected.id, socket: selected, receiver: "the peer", hasDirections: false)
        }
        let goesToServer = !composer.injectsToClient
        let id = (selected.role == .client) == goesToServer ? selected.id : linked
        return Injection(
            id: id, socket: shown?.socket(id), receiver: goesToServer ? "the server" : "the client",
            hasDirections: true)
    }

    /// The connection that a typed line is written to, while it is listed.
    package var writesTo: SocketSnapshot? { injection.map(\.socket) ?? selected }

    /// Why the line cannot be sent, or `nil` if it can.
    package var whyNoSending: String? {
        guard let selected else {
            if expected != nil { return nil }
            return list.selected.map { "\($0) is no longer listed" } ?? "nothing is selected"
        }
        if let refusal = refusal(needing: .commands) { return refusal }
        guard let injection else { return TalkWords.whyNoWriting(selected) }
        return injection.socket.map(TalkWords.whyNoWriting) ?? "\(injection.id) is no longer listed"
    }

    /// Whether what is typed can be sent. The cursor stays in the composer of a connection that closed, so that what is
    /// being typed does not turn into commands.
    var canCompose: Bool { whyNoSending == nil }

    /// Chooses the other direction of a relayed pair, or asks where datagrams are sent.
    mutating func changeDirection() {
        guard injection?.hasDirections == true else { return openDestination() }
        editComposer { $0.injectsToClient.toggle() }
    }
}
