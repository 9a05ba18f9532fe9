import InspectorCore
import SocketCore

/// Sending datagrams, one per line, each to its own address.
extension ComposerState {
    /// Sends the line as one datagram, whole and at once.
    mutating func sendDatagram(
        _ message: [MessagePiece], _ transmission: Transmission, _ composer: Composer, to recipient: Recipient,
        in shared: Shared
    ) -> Outcome {
        guard !transmission.isLong, composer.mode != .file, message.allSatisfy(\.isKnown) else {
            return .hint("a datagram is sent in one piece: no file, pacing or pause")
        }
        guard let socket = recipient.socket else { return Outcome() }
        guard composer.destination != nil || socket.peer != nil || socket.phase == .connecting else {
            return .error(
                shared.options.keys.naming("no destination: {destination} chooses an address", in: .composer))
        }
        edit(recipient.id, in: shared) { $0.sent() }
        let bytes = MessageText.preview(message, sequence: composer.sequence).bytes.compactMap { $0 }
        let request = DatagramRequest(
            bytes, to: socket.peer == nil ? composer.destination : nil, timeout: composer.pace.timeout,
            tag: composer.nextTag)
        return Outcome(
            effects: [.send(.send(socket.id, request))] + remember(composer.line, sentTo: socket.id, in: shared),
            notice: recipient.injection.map { Self.injected(bytes, $0) })
    }

    /// Sets up a datagram composer. A datagram has no line ending unless one is requested.
    mutating func greet(_ socket: SocketSnapshot, in shared: Shared) {
        guard self[socket.id] == nil else { return }
        var composer = freshComposer(Self.historyKey(socket.id, in: shared))
        composer.ending = .none
        // A socket opened for a group sends to the group.
        if case .datagrams(let endpoint, _) = try? OpenTarget.parse(socket.target), endpoint.isMulticast {
            composer.destination = endpoint
        }
        self[socket.id] = composer
    }

    /// Adopts the first sender as the destination until another is chosen, as `nc -u -l` does.
    mutating func adoptDestination(of socket: SocketSnapshot, in shared: Shared) {
        guard socket.role == .datagram, socket.peer == nil,
            let first = socket.datagrams?.peers.first.flatMap({ Endpoint($0.address) })
        else { return }
        greet(socket, in: shared)
        if self[socket.id]?.destination == nil { self[socket.id]?.destination = first }
    }
}
