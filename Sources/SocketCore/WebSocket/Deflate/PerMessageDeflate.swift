/// The four parameters of permessage-deflate (RFC 7692, 7.1): what an end wishes for, or what both agreed on.
public struct PerMessageDeflateParameters: Hashable, Sendable, Codable {
    /// Whether the server forgets its window after each message.
    public var serverNoContextTakeover: Bool
    /// Whether the client forgets its window after each message.
    public var clientNoContextTakeover: Bool
    /// The server's window is at most 2 to the power of it, in bytes: 8 to 15.
    public var serverMaxWindowBits: Int
    /// The client's window is at most 2 to the power of it, in bytes: 8 to 15.
    public var clientMaxWindowBits: Int

    /// Sets all four; bits are held within 8 to 15. To wish for 8 is to wish for 9, which is the least that zlib
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

    /// Whether this end forgets its own window after each message.
    func forgets(_ role: WebSocketRole) -> Bool {
        switch role {
        case .client: clientNoContextTakeover
        case .server: serverNoContextTakeover
        }
    }

    /// The bits of the window of what this end compresses.
    func windowBits(_ role: WebSocketRole) -> Int {
        switch role {
        case .client: clientMaxWindowBits
        case .server: serverMaxWindowBits
        }
    }
}

/// Why the extensions of a server's reply are not what was offered.
package struct ExtensionFault: Error, Hashable, Sendable {
    /// One sentence for a person.
    package var detail: String
}

// MARK: Negotiation

extension PerMessageDeflateParameters {
    private static let name = "permessage-deflate"
    private static let least = 9

    /// The client's offer with these wishes: the value of Sec-WebSocket-Extensions (7.1). The server may always limit
    /// the client's window.
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

    /// The server's answer, with these wishes, to the extensions a client offers: the first offer that it can keep, and
    /// the value of its Sec-WebSocket-Extensions; nil when there is none such, or the header breaks the grammar.
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
        // This end could not keep within a window of 256 bytes.
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

    /// What a server's reply to `offer` agrees on; nil when it names no extension. It throws what is wrong with any
    /// reply that the offer does not allow (RFC 6455, 9.1; RFC 7692, 7.1), after which the client fails the connection.
    package func accept(reply header: String) throws(ExtensionFault) -> PerMessageDeflateParameters? {
        guard let replies = WebSocketExtension.parse(header) else {
            throw ExtensionFault(detail: "Sec-WebSocket-Extensions breaks the grammar: \(header)")
        }
        guard let reply = replies.first else { return nil }
        if let other = replies.first(where: { $0.name != Self.name }) {
            throw ExtensionFault(detail: "extension \(other.name) was not offered")
        }
        guard replies.count == 1 else { throw ExtensionFault(detail: "\(Self.name) is agreed on twice") }
        guard let terms = DeflateTerms(reply.parameters) else {
            throw ExtensionFault(detail: "unknown, repeated or wrong parameter: \(reply)")
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
            throw ExtensionFault(detail: "server_no_context_takeover was asked for, the reply lacks it: \(reply)")
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

/// The parameters of one offer or reply, each at most once and with a value that it may have (RFC 7692, 7.1).
private struct DeflateTerms {
    var serverNoContextTakeover = false
    var clientNoContextTakeover = false
    var serverMaxWindowBits: Int?
    /// The outer nil: not there; the inner one: there without a value, which only an offer may have.
    var clientMaxWindowBits: Int??

    /// What the client may use as far as these terms go.
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

    /// 8 to 15, in decimal without leading zeros.
    private static func windowBits(_ text: String) -> Int? {
        (8...15).first { "\($0)" == text }
    }
}
