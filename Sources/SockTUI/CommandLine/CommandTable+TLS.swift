import InspectorCore
import SocketCore

extension CommandTable {
    private static let all: Set<String> = ["connect", "listen", "relay"]
    private static let clients: Set<String> = ["connect", "relay"]

    /// The options for addresses that begin with `tls://`.
    static let tlsOptions: [Option] = [
        Option(
            name: "--sni", value: "NAME", commands: clients, help: "tls: the server's name"
        ) {
            (name, request) throws(UsageError) in request.tls.serverName = name
        },
        Option(name: "--alpn", value: "LIST", commands: all, help: "tls: ALPN, as in h2,http/1.1") {
            (list, request) throws(UsageError) in request.tls.protocols = list
        },
        Option(name: "--ca", value: "FILE", commands: all, help: "tls: trust FILE, or FOLDER/") {
            (path, request) throws(UsageError) in request.tls.authority = path
        },
        Option(name: "--cert", value: "FILE", commands: all, help: "tls: our certificate, in PEM") {
            (path, request) throws(UsageError) in request.tls.certificate = path
        },
        Option(name: "--key", value: "FILE", commands: all, help: "tls: its key, if not in --cert") {
            (path, request) throws(UsageError) in request.tls.key = path
        },
        Option(name: "--insecure", commands: clients, help: "tls: any certificate; says what is wrong") {
            (_, request) throws(UsageError) in request.tls.isInsecure = true
        },
        Option(name: "--keylog", value: "FILE", commands: all, help: "tls: log secrets, for Wireshark") {
            (path, request) throws(UsageError) in request.tls.keyLog = path
        },
    ]
}

extension CommandTable.Request {
    /// Refuses what the options of TLS do not allow for one address.
    func checkTLS(_ text: String, listens: Bool) throws(UsageError) {
        let isWebSocket = WebSocketTarget.isMeant(by: text)
        let isSecured = isWebSocket && text.lowercased().hasPrefix("wss")
        guard let rest = TLSAddress.rest(of: text) ?? (isSecured ? text : nil) else {
            if !tls.isEmpty, isWebSocket { throw UsageError(text, "options of TLS go with wss://") }
            if tls.isEmpty || text.isEmpty { return }
            throw UsageError(text, "options of TLS go with tls://, as in tls://\(text)")
        }
        if DatagramTarget.isMeant(by: rest) || WebSocketTarget.isMeant(by: rest) != isSecured {
            throw UsageError(text, "TLS goes over streams, as in tls://host:port")
        }
        guard listens else { return }
        do throws(TLSChoices.Problem) {
            _ = try tls.server()
        } catch {
            throw UsageError(text, error.message)
        }
    }

    /// TLS for one address that was checked; nil: it asks for none.
    func settings(for target: OpenTarget, _ text: String, listens: Bool) -> TLSSettings? {
        guard TLSAddress.rest(of: text) != nil || target.isSecure, let endpoint = target.endpoint else { return nil }
        return listens ? try? tls.server() : tls.client(hasName: endpoint.namesHost)
    }
}
