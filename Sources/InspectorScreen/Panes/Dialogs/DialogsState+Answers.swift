import InspectorCore
import SocketCore

/// Dialogs that answer what waits for the user.
extension DialogsState {
    /// Asks for an answer to what waits: connections at a listener, a certificate, or an operation that timed out.
    mutating func openAnswer(_ subject: Subject, in shared: Shared) -> Model.Notice? {
        guard let selected = subject.socket else { return .hint("nothing here awaits an answer") }
        if selected.role == .listener, selected.isLive { return openConnectionMenu(selected, in: shared) }
        if let trust = selected.tls?.question {
            openTrustMenu(selected.id, trust, in: shared)
            return nil
        }
        guard let operation = selected.asking else { return .hint("nothing here awaits an answer") }
        let more = operation.timeout.map { Format.duration($0) } ?? "30s"
        open = .form(
            Form(
                .answer(selected.id, operation),
                [
                    FormField(.verdict, "Answer", .choice(["extend", "fail it", "close"], 0)),
                    .text(.extra, "By", more, hint: "such as 30s"),
                ]))
        return nil
    }

    /// Asks about the peer's certificate.
    private mutating func openTrustMenu(_ id: SocketID, _ trust: TLSTrust, in shared: Shared) {
        let certificate = trust.chain.first
        var menu = Menu(
            title: "\(id) \(certificate?.subject ?? "no certificate")",
            items: [
                Menu.Item(key: "a", label: "accept it, this once", choice: .trust(id, trust.question, .accept)),
                Menu.Item(
                    key: "r", label: "refuse it and close the connection", choice: .trust(id, trust.question, .refuse)),
                Menu.Item(
                    key: "d", label: shared.options.keys.naming("look at it first ({detail} Detail)"),
                    choice: .showDetail),
            ], selected: 1)
        menu.notes = [.words(trust.problem ?? "valid")]
        if let certificate { menu.notes.append(.fingerprint(certificate.fingerprint)) }
        open = .menu(menu)
    }

    /// The most waiting connections that are named.
    private static let mostNamed = 4

    /// Asks whether to accept the connection that waits at a listener.
    private mutating func openConnectionMenu(_ listener: SocketSnapshot, in shared: Shared) -> Model.Notice? {
        guard let waiting = listener.kernel?.receiveQueue, waiting > 0 else {
            return .hint(
                listener.isReadingPaused || listener.fault != nil
                    ? "no connections are waiting at \(listener.id)" : "connections are accepted automatically")
        }
        var menu = Menu(
            title: "\(Format.count(waiting, "connection")) wait\(waiting == 1 ? "s" : "") at \(listener.id)",
            items: [
                Menu.Item(key: "t", label: "accept the first", choice: .answerConnection(listener.id, .accept)),
                Menu.Item(key: "r", label: "refuse it, with RST", choice: .answerConnection(listener.id, .refuse)),
            ])
        let peers = shared.peers[listener.id]?.waiting ?? []
        menu.notes = peers.prefix(Self.mostNamed).map { .words($0.words) }
        if !peers.isEmpty, waiting > menu.notes.count {
            menu.notes.append(.words("and \(waiting - menu.notes.count) more"))
        }
        open = .menu(menu)
        return nil
    }

    /// Asks how to secure the selected connection.
    mutating func openTLSForm(_ subject: Subject) -> Model.Notice? {
        guard let selected = subject.socket, selected.isLive, selected.role != .listener else {
            return .hint("only a live connection can be secured")
        }
        guard selected.ownWebSocket == nil else {
            return .hint("a WebSocket uses TLS from the first byte or not at all: open it as wss://")
        }
        guard selected.tls == nil else {
            return .hint("TLS was already requested on this connection")
        }
        let isServer = selected.role == .accepted
        let host = Self.host(of: selected.target)
        open = .form(
            Form(
                .tls(selected.id),
                [
                    FormField(.tlsRole, "We are the", .choice(["client", "server"], isServer ? 1 : 0)),
                    .text(.serverName, "Server", isServer ? "" : host, hint: "its name; empty: not checked"),
                    FormField(.trust, "Trust", .choice(["system", "file", "anyone"], 0)),
                    .text(.authority, "Authority", "", hint: "PEM file, or folder/"),
                    .text(.protocols, "ALPN", "", hint: "such as h2,http/1.1"),
                    .text(.certificate, "Certificate", "", hint: "our PEM file"),
                    .text(.key, "Key", "", hint: "PEM file; empty: the same"),
                ]))
        return nil
    }

    /// Returns the requested host without its port, or an empty string if the target has none.
    private static func host(of target: String) -> String {
        (try? Endpoint.parse(target))?.host ?? ""
    }
}
