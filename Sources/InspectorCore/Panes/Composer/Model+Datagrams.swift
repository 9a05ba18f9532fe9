import SocketCore

/// Datagrams are sent one a line, each to an address of its own.
extension Model {
    /// One line is one datagram, whole and at once.
    mutating func sendDatagram(
        _ message: [MessagePiece], _ transmission: Transmission, _ composer: Composer
    ) -> [Effect] {
        guard !transmission.isLong, composer.mode != .file, message.allSatisfy(\.isKnown) else {
            notice = hint("a datagram is sent whole and at once: no file, no pace, no pause")
            return []
        }
        guard let selected else { return [] }
        guard composer.destination != nil || selected.peer != nil || selected.phase == .connecting else {
            notice = error(naming("no destination: {destination} chooses an address", in: .composer))
            return []
        }
        editComposer { $0.sent() }
        let bytes = MessageText.preview(message, sequence: composer.sequence).bytes.compactMap { $0 }
        let request = DatagramRequest(
            bytes, to: selected.peer == nil ? composer.destination : nil, timeout: composer.pace.timeout,
            tag: composer.nextTag)
        return [.send(.send(selected.id, request))] + remember(composer.line, sentTo: selected.id)
    }

    /// Asks where datagrams are sent.
    mutating func openDestination() {
        guard let selected, selected.role == .datagram else {
            notice = hint("a stream has one peer; datagrams may go to any address")
            return
        }
        guard selected.peer == nil else {
            notice = hint("it is connected: its datagrams go to \(selected.peerText)")
            return
        }
        let now = composer.destination?.datagramText ?? ""
        dialog = .form(
            Form(
                .destination(selected.id),
                [.text(.address, "To", now, hint: "host:port, or /path of a Unix-domain socket")]))
    }

    /// A datagram holds what was typed and nothing else, unless a line ending is asked for.
    mutating func greetDatagrams(_ socket: SocketSnapshot) {
        guard composers[socket.id] == nil else { return }
        var composer = freshComposer(historyKey(socket.id))
        composer.ending = .none
        // What was opened for a group speaks to the group.
        if case .datagrams(let endpoint, _) = try? OpenTarget.parse(socket.target), endpoint.isMulticast {
            composer.destination = endpoint
        }
        composers[socket.id] = composer
    }

    /// As `nc -u -l` does: answers go to the first who spoke, until another is chosen.
    mutating func adoptDestination(_ snapshot: EngineSnapshot) {
        guard let id = list.selected, let socket = snapshot.socket(id), socket.role == .datagram, socket.peer == nil,
            let first = socket.datagrams?.peers.first.flatMap({ Endpoint($0.address) })
        else { return }
        if composers[id] == nil { greetDatagrams(socket) }
        if composers[id]?.destination == nil { composers[id]?.destination = first }
    }
}

extension Form {
    /// Where the filled-in form sends to; a bare address means the family that the socket has.
    func destination() throws(Problem) -> Endpoint {
        let text = text(.address).filter { !$0.isWhitespace }
        let isPath = text.hasPrefix("/") || text.hasPrefix("@")
        let scheme: OpenTarget.Scheme = isPath ? .unixgram : .udp
        let isWhole = [.udp, .unixgram].contains(OpenTarget.Scheme(of: text))
        do throws(EndpointError) {
            return try OpenTarget.parse(isWhole ? text : scheme.rawValue + text).endpoint
        } catch {
            throw Problem(field: .address, message: "\(text.isEmpty ? "nothing" : text): \(error.problem)")
        }
    }
}
