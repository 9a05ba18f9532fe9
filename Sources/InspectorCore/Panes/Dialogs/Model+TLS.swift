import SocketCore

extension Model {
    /// Asks how to secure the selected connection.
    mutating func openTLSForm() {
        guard let selected, selected.isLive, selected.role != .listener else {
            notice = hint("only a live connection can be secured")
            return
        }
        guard selected.ownWebSocket == nil else {
            notice = hint("a WebSocket has TLS from the first byte, or none: open it as wss://")
            return
        }
        guard selected.tls == nil else {
            notice = hint("TLS was requested already: a connection can have it once")
            return
        }
        let isServer = selected.role == .accepted
        let host = Self.host(of: selected.target)
        dialog = .form(
            Form(
                .tls(selected.id),
                [
                    FormField(.tlsRole, "We are the", .choice(["client", "server"], isServer ? 1 : 0)),
                    .text(.serverName, "Server", isServer ? "" : host, hint: "its name; empty: not checked"),
                    FormField(.trust, "Trust", .choice(["system", "file", "anyone"], 0)),
                    .text(.authority, "Authority", "", hint: "PEM file, or folder/"),
                    .text(.protocols, "ALPN", "", hint: "such as h2,http/1.1"),
                    .text(.certificate, "Certificate", "", hint: "PEM file of ours"),
                    .text(.key, "Key", "", hint: "PEM file; empty: the same"),
                ]))
    }

    /// The host that was asked for, without its port; empty: none has a name.
    private static func host(of target: String) -> String {
        guard case .tcp(let host, _)? = try? Endpoint.parse(target) else { return "" }
        return host
    }

    /// Asks about the peer's certificate; false where nothing about it is to be answered.
    mutating func openTrustMenu() -> Bool {
        guard let selected, let trust = selected.tls?.question else { return false }
        let subject = trust.chain.first?.subject ?? "no certificate"
        let problem = trust.problem ?? "in order"
        dialog = .menu(
            Menu(
                title: "\(selected.id) \(subject): \(problem)",
                items: [
                    Menu.Item(
                        key: "a", label: "accept it, this once",
                        choice: .trust(selected.id, trust.question, .accept)),
                    Menu.Item(
                        key: "r", label: "refuse it: the connection closes",
                        choice: .trust(selected.id, trust.question, .refuse)),
                    Menu.Item(key: "d", label: naming("look at it first ({detail} Detail)"), choice: .showDetail),
                ], selected: 1))
        return true
    }
}

extension Form {
    /// What the TLS dialog asks for.
    func secured(_ id: SocketID) throws(Problem) -> Effect {
        var choices = TLSChoices()
        choices.protocols = text(.protocols)
        choices.certificate = text(.certificate)
        choices.key = text(.key)
        if chosen(.trust) == 1 {
            choices.authority = text(.authority)
            if choices.authority.isEmpty { throw Problem(field: .authority, message: "which file, or folder/?") }
        }
        if chosen(.tlsRole) == 1 {
            do throws(TLSChoices.Problem) {
                return .startTLS(id, try choices.server())
            } catch {
                throw Problem(field: .certificate, message: "a TLS server needs a certificate of its own")
            }
        }
        choices.serverName = text(.serverName)
        choices.isInsecure = chosen(.trust) == 2
        return .startTLS(id, choices.client(hasName: false))
    }

    /// TLS of a connection or listener that is opened by a dialog.
    func openingTLS(_ endpoint: Endpoint) throws(Problem) -> TLSSettings {
        var choices = TLSChoices()
        choices.serverName = text(.serverName)
        choices.authority = text(.authority)
        choices.certificate = text(.certificate)
        choices.key = text(.key)
        guard purpose == .listen else { return choices.client(hasName: endpoint.namesHost) }
        do throws(TLSChoices.Problem) {
            return try choices.server()
        } catch {
            throw Problem(field: .certificate, message: "a TLS server needs a certificate: name its PEM file")
        }
    }
}
