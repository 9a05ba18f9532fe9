import SocketCore

/// The TLS options of a user, on a command line or in a dialog.
package struct TLSChoices: Equatable, Sendable {
    /// The reason why an option is invalid: the option or field, and what would be right.
    package struct Problem: Error, Equatable {
        package var message: String
    }

    /// The server's name to request and verify. If empty, the host of the address.
    package var serverName = ""
    /// The protocols to negotiate, separated by commas, the preferred one first.
    package var protocols = ""
    /// A file of trusted certificates, or a folder of them, which ends with a slash. If empty, the system's.
    package var authority = ""
    package var certificate = ""
    /// The key's file. If empty, the key is in the certificate's file.
    package var key = ""
    /// Whether any certificate is accepted.
    package var isInsecure = false
    package var keyLog = ""

    package init() {}

    /// Whether there are no options.
    package var isEmpty: Bool { self == TLSChoices() }

    /// Returns the settings of a client. `hasName` says whether the address names a host.
    package func client(hasName: Bool) -> TLSSettings {
        var settings = TLSSettings.client(serverName: serverName.isEmpty ? nil : serverName)
        if serverName.isEmpty, !hasName { settings.checksName = false }
        if isInsecure {
            settings.trust = .anything
        } else if !authority.isEmpty {
            settings.trust = trust
        }
        settings.trustEvaluator = .delegateIfRefused
        settings.identity = identity
        share(&settings)
        return settings
    }

    /// Returns the settings of a server, which must have a certificate.
    package func server() throws(Problem) -> TLSSettings {
        guard let identity else {
            throw Problem(message: "a TLS server needs a certificate: --cert FILE, and --key FILE unless it holds both")
        }
        if !serverName.isEmpty {
            throw Problem(message: "--sni works with connect and tls:// targets: only clients name a server")
        }
        if isInsecure {
            throw Problem(message: "--insecure works with connect and tls:// targets: only clients verify a server")
        }
        var settings = TLSSettings.server(identity)
        if !authority.isEmpty {
            settings.trust = trust
            settings.clientCertificate = .required
        }
        share(&settings)
        return settings
    }

    /// Returns the options of each side of a relay, or `nil` for a side without TLS. If both use it, the certificate
    /// and key belong to the listener, the authority, the name and `isInsecure` to the target, and protocols and key
    /// log to both.
    package func sides(listens: Bool, connects: Bool) -> (listener: TLSChoices?, target: TLSChoices?) {
        guard listens, connects else { return (listens ? self : nil, connects ? self : nil) }
        var (listener, target) = (self, self)
        (listener.authority, listener.serverName, listener.isInsecure) = ("", "", false)
        (target.certificate, target.key) = ("", "")
        return (listener, target)
    }

    private func share(_ settings: inout TLSSettings) {
        settings.applicationProtocols = protocols.split(separator: ",").map { word in
            String(word.filter { !$0.isWhitespace })
        }
        settings.keyLogFile = keyLog.isEmpty ? nil : keyLog
    }

    private var trust: TLSSettings.Trust { authority.hasSuffix("/") ? .folder(authority) : .file(authority) }

    private var identity: TLSSettings.Identity? {
        guard !certificate.isEmpty else { return nil }
        return TLSSettings.Identity(certificateFile: certificate, keyFile: key.isEmpty ? nil : key)
    }
}

extension Endpoint {
    /// Whether it has a host or an address that a certificate can name.
    package var namesHost: Bool { host?.isEmpty == false }
}
