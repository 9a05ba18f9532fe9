import SocketCore

/// Datagrams are sent one a line, each to an address of its own.
extension ComposerState {
    /// One line is one datagram, whole and at once.
    mutating func sendDatagram(
        _ message: [MessagePiece], _ transmission: Transmission, _ composer: Composer, to recipient: Recipient,
        in shared: Shared
    ) -> Outcome {
        guard !transmission.isLong, composer.mode != .file, message.allSatisfy(\.isKnown) else {
            return .hint("a datagram is sent whole and at once: no file, no pace, no pause")
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

    /// A datagram holds what was typed and nothing else, unless a line ending is asked for.
    mutating func greet(_ socket: SocketSnapshot, in shared: Shared) {
        guard self[socket.id] == nil else { return }
        var composer = freshComposer(Self.historyKey(socket.id, in: shared))
        composer.ending = .none
        // What was opened for a group speaks to the group.
        if case .datagrams(let endpoint, _) = try? OpenTarget.parse(socket.target), endpoint.isMulticast {
            composer.destination = endpoint
        }
        self[socket.id] = composer
    }

    /// As `nc -u -l` does: answers go to the first who spoke, until another is chosen.
    mutating func adoptDestination(of socket: SocketSnapshot, in shared: Shared) {
        guard socket.role == .datagram, socket.peer == nil,
            let first = socket.datagrams?.peers.first.flatMap({ Endpoint($0.address) })
        else { return }
        greet(socket, in: shared)
        if self[socket.id]?.destination == nil { self[socket.id]?.destination = first }
    }
}
