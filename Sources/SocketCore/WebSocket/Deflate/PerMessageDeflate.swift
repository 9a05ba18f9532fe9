/// The four parameters of permessage-deflate (RFC 7692, 7.1), as one side prefers them or as both agreed on.
public struct PerMessageDeflateParameters: Hashable, Sendable {
    /// Whether the server clears its window after each message.
    public var serverNoContextTakeover: Bool
    /// Whether the client clears its window after each message.
    public var clientNoContextTakeover: Bool
    /// The maximum size of the server's window as a power of 2 in bytes, 8 to 15.
    public var serverMaxWindowBits: Int
    /// The maximum size of the client's window as a power of 2 in bytes, 8 to 15.
    public var clientMaxWindowBits: Int

    /// Creates parameters. Bits are clamped to 8 through 15. A preference for 8 counts as 9, the least that zlib
    /// compresses with.
    public init(
        serverNoContextTakeover: Bool = false, clientNoContextTakeover: Bool = false, serverMaxWindowBits: Int = 15,
        clientMaxWindowBits: Int = 15
    ) {
        self.serverNoContextTakeover = serverNoContextTakeover
        self.clientNoContextTakeover = clientNoContextTakeover
        self.serverMaxWindowBits = min(15, max(8, serverMaxWindowBits))
        self.clientMaxWindowBits = min(15, max(8, clientMaxWindowBits))
    }

    /// Whether `role` clears its window after each message.
    func forgets(_ role: WebSocketRole) -> Bool {
        switch role {
        case .client: clientNoContextTakeover
        case .server: serverNoContextTakeover
        }
    }

    /// Returns the window bits that `role` compresses with.
    func windowBits(_ role: WebSocketRole) -> Int {
        switch role {
        case .client: clientMaxWindowBits
        case .server: serverMaxWindowBits
        }
    }
}

/// Why the extensions in a server's response don't match the offer.
package struct ExtensionFault: Error, Equatable, Sendable {
    /// One sentence for the user.
    package var detail: String
}

// MARK: Negotiation

extension PerMessageDeflateParameters {
    private static let name = "permessage-deflate"
    private static let least = 9

    /// The client's offer: the value of Sec-WebSocket-Extensions (7.1). The offer always lets the server limit the
    /// client's window.
    package var offer: String {
        var entry = WebSocketExtension(Self.name)
        let serverBits = max(Self.least, serverMaxWindowBits)
        let clientBits = max(Self.least, clientMaxWindowBits)
        if serverNoContextTakeover { entry.parameters.append(.init("server_no_context_takeover")) }
        if clientNoContextTakeover { entry.parameters.append(.init("client_no_context_takeover")) }
        if serverBits < 15 { entry.parameters.append(.init("server_max_window_bits", "\(serverBits)")) }
        entry.parameters.append(.init("client_max_window_bits", clientBits < 15 ? "\(clientBits)" : nil))
        return entry.description
    }

    /// Returns the server's answer to the extensions a client offers: the agreed parameters of the first acceptable
    /// offer, and the value of Sec-WebSocket-Extensions. Returns `nil` if no offer is acceptable or the header breaks
    /// the grammar.
    package func answer(to header: String) -> (agreed: PerMessageDeflateParameters, header: String)? {
        let offers = WebSocketExtension.parse(header) ?? []
        return offers.lazy.filter { $0.name == Self.name }.compactMap { answer($0) }.first
    }

    private func answer(_ offer: WebSocketExtension) -> (agreed: PerMessageDeflateParameters, header: String)? {
        guard let asked = DeflateTerms(offer.parameters) else { return nil }
        var agreed = PerMessageDeflateParameters()
        var reply = WebSocketExtension(Self.name)
        agreed.serverNoContextTakeover = serverNoContextTakeover || asked.serverNoContextTakeover
        agreed.clientNoContextTakeover = clientNoContextTakeover || asked.clientNoContextTakeover
        agreed.serverMaxWindowBits = min(max(Self.least, serverMaxWindowBits), asked.serverMaxWindowBits ?? 15)
        // zlib can't keep to a window of 256 bytes.
        guard agreed.serverMaxWindowBits >= Self.least else { return nil }
        if agreed.serverNoContextTakeover { reply.parameters.append(.init("server_no_context_takeover")) }
        if agreed.clientNoContextTakeover { reply.parameters.append(.init("client_no_context_takeover")) }
        if agreed.serverMaxWindowBits < 15 || asked.serverMaxWindowBits != nil {
            reply.parameters.append(.init("server_max_window_bits", "\(agreed.serverMaxWindowBits)"))
        }
        if asked.clientMaxWindowBits != nil {
            agreed.clientMaxWindowBits = min(max(Self.least, clientMaxWindowBits), asked.clientBits)
            if agreed.clientMaxWindowBits < 15 {
                reply.parameters.append(.init("client_max_window_bits", "\(agreed.clientMaxWindowBits)"))
            }
        }
        return (agreed, reply.description)
    }

    /// Returns the parameters agreed on in a server's reply to `offer`, or `nil` if it names no extension. Throws if
    /// the offer does not allow the reply (RFC 6455, 9.1; RFC 7692, 7.1). The client must then fail the connection.
    package func accept(reply header: String) throws(ExtensionFault) -> PerMessageDeflateParameters? {
        guard let replies = WebSocketExtension.parse(header) else {
            throw ExtensionFault(detail: "Sec-WebSocket-Extensions is malformed: \(header)")
        }
        guard let reply = replies.first else { return nil }
        if let other = replies.first(where: { $0.name != Self.name }) {
            throw ExtensionFault(detail: "extension \(other.name) was not offered")
        }
        guard replies.count == 1 else { throw ExtensionFault(detail: "\(Self.name) is in the reply twice") }
        guard let terms = DeflateTerms(reply.parameters) else {
            throw ExtensionFault(detail: "unknown, repeated or invalid parameter: \(reply)")
        }
        return try accept(terms, reply)
    }

    private func accept(
        _ terms: DeflateTerms, _ reply: WebSocketExtension
    ) throws(ExtensionFault) -> PerMessageDeflateParameters {
        let mostServerBits = max(Self.least, serverMaxWindowBits)
        if terms.clientMaxWindowBits == .some(nil) {
            throw ExtensionFault(detail: "client_max_window_bits without a value: \(reply)")
        }
        if serverNoContextTakeover, !terms.serverNoContextTakeover {
            throw ExtensionFault(detail: "server_no_context_takeover was requested, but the reply lacks it: \(reply)")
        }
        let serverBits = terms.serverMaxWindowBits ?? 15
        guard serverBits <= mostServerBits else {
            throw ExtensionFault(detail: "server_max_window_bits must be at most \(mostServerBits): \(reply)")
        }
        return PerMessageDeflateParameters(
            serverNoContextTakeover: terms.serverNoContextTakeover,
            clientNoContextTakeover: clientNoContextTakeover || terms.clientNoContextTakeover,
            serverMaxWindowBits: serverBits,
            clientMaxWindowBits: min(max(Self.least, clientMaxWindowBits), terms.clientBits))
    }
}

/// The parameters of one offer or reply, each at most once and with a valid value (RFC 7692, 7.1).
private struct DeflateTerms {
    var serverNoContextTakeover = false
    var clientNoContextTakeover = false
    var serverMaxWindowBits: Int?
    /// The outer `nil` means the parameter is missing. The inner `nil` means it has no value, which is allowed only in
    /// an offer.
    var clientMaxWindowBits: Int??

    /// The window bits these terms allow the client.
    var clientBits: Int { (clientMaxWindowBits ?? nil) ?? 15 }

    init?(_ parameters: [WebSocketExtension.Parameter]) {
        guard Set(parameters.map(\.name)).count == parameters.count else { return nil }
        for parameter in parameters {
            let bits = parameter.value.flatMap(Self.windowBits)
            switch (parameter.name, parameter.value) {
            case ("server_no_context_takeover", nil): serverNoContextTakeover = true
            case ("client_no_context_takeover", nil): clientNoContextTakeover = true
            case ("client_max_window_bits", nil): clientMaxWindowBits = .some(nil)
            case ("client_max_window_bits", .some) where bits != nil: clientMaxWindowBits = .some(bits)
            case ("server_max_window_bits", .some) where bits != nil: serverMaxWindowBits = bits
            default: return nil
            }
        }
    }

    /// Parses 8 to 15, in decimal without leading zeros.
    private static func windowBits(_ text: String) -> Int? {
        (8...15).first { "\($0)" == text }
    }
}
