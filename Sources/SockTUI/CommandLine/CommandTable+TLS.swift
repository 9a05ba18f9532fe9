import InspectorCore
import SocketCore

extension CommandTable {
    private static let all: Set<String> = ["connect", "listen", "relay", "replay", "sweep"]
    private static let clients: Set<String> = ["connect", "relay", "replay", "sweep"]

    /// The options for addresses that start with `tls://`.
    static let tlsOptions: [Option] = [
        Option(
            name: "--sni", value: .text("NAME"), commands: clients, help: "tls: the server's name"
        ) {
            (name, request) throws(UsageError) in request.tls.serverName = name
        },
        Option(name: "--alpn", value: .text("LIST"), commands: all, help: "tls: ALPN, as in h2,http/1.1") {
            (list, request) throws(UsageError) in request.tls.protocols = list
        },
        Option(name: "--ca", value: .reads("FILE"), commands: all, help: "tls: trust FILE, or FOLDER/") {
            (path, request) throws(UsageError) in request.tls.authority = path
        },
        Option(name: "--cert", value: .reads("FILE"), commands: all, help: "tls: our certificate, in PEM") {
            (path, request) throws(UsageError) in request.tls.certificate = path
        },
        Option(name: "--key", value: .reads("FILE"), commands: all, help: "tls: our key, if not in --cert") {
            (path, request) throws(UsageError) in request.tls.key = path
        },
        Option(name: "--insecure", commands: clients, help: "tls: accept any certificate; report what is wrong") {
            (_, request) throws(UsageError) in request.tls.isInsecure = true
        },
        Option(name: "--keylog", value: .writes("FILE"), commands: all, help: "tls: log session secrets for Wireshark")
        {
            (path, request) throws(UsageError) in request.tls.keyLog = path
        },
    ]
}

extension CommandTable.Request {
    /// Returns the TLS settings of one address, or `nil` if it doesn't use TLS. Rejects options that don't apply to it.
    func settings(for target: OpenTarget, _ text: String, listens: Bool) throws(EndpointError) -> TLSSettings? {
        guard target.isSecure else {
            if tls.isEmpty { return nil }
            let isWebSocket = if case .webSocket = target { true } else { false }
            throw EndpointError(
                text: text,
                problem: isWebSocket
                    ? "TLS options need wss://" : "TLS options need tls://, as in tls://\(text)")
        }
        guard listens else { return tls.client(hasName: target.endpoint.namesHost) }
        do throws(TLSChoices.Problem) {
            return try tls.server()
        } catch {
            throw EndpointError(text: text, problem: error.message)
        }
    }
}
