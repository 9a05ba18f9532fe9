import InspectorCore
import SocketCore

/// The parsers of each command's arguments.
extension Instruction {
    static func connect(_ arguments: Arguments) throws(Failure) -> OpenRequest { try open(arguments, listens: false) }

    static func listen(_ arguments: Arguments) throws(Failure) -> OpenRequest { try open(arguments, listens: true) }

    /// Parses text with escapes.
    static func bytes(_ arguments: Arguments) throws(Failure) -> [UInt8] {
        try InstructionText.escaped(arguments.whole, arguments.verb)
    }

    static func filter(_ arguments: Arguments) throws(Failure) -> Filter {
        switch Filter.parse(arguments.text) {
        case .success(let filter): return filter
        case .failure(let failure): throw Failure("filter", failure.message)
        }
    }

    static func payload(_ arguments: Arguments) throws(Failure) -> PayloadSearch {
        switch PayloadSearch.parse(arguments.whole) {
        case .success(let search): return search
        case .failure(let failure): throw Failure("find", failure.message)
        }
    }

    static func socket(_ arguments: Arguments) throws(Failure) -> SocketID {
        guard let id = SocketID(label: arguments.text.drop { $0 == "#" }) else {
            throw Failure(arguments.text, "select takes a connection's ID, as in select 7")
        }
        return id
    }

    /// Parses a signal's name, `TERM` or `SIGTERM`, and returns its number.
    static func signal(_ arguments: Arguments) throws(Failure) -> Int32 {
        let name = arguments.text.uppercased()
        let word = name.hasPrefix("SIG") ? String(name.dropFirst(3)) : name
        guard let found = SignalWords.sent.first(where: { $0.name == word }) else {
            throw arguments.unknown(arguments.text, SignalWords.sent.map(\.name))
        }
        return found.number
    }

    /// Parses a file name, or returns `nil` for off.
    static func recording(_ arguments: Arguments) throws(Failure) -> String? {
        let path = arguments.whole
        guard !path.isEmpty else { throw Failure("record", "needs a file, or off") }
        guard path != "-" else { throw Failure("-", "is standard output, which is the screen here; name a file") }
        return path == "off" ? nil : path
    }

    static func isSlowest(_ arguments: Arguments) throws(Failure) -> Bool {
        let word = arguments.text
        guard ["", "slowest"].contains(word) else { throw arguments.unknown(word, ["slowest"]) }
        return !word.isEmpty
    }

    static func isAll(_ arguments: Arguments) throws(Failure) -> Bool {
        let word = arguments.text
        guard ["", "all"].contains(word) else { throw arguments.unknown(word, ["all"]) }
        return !word.isEmpty
    }

    static func isOn(_ arguments: Arguments) throws(Failure) -> Bool {
        let word = arguments.text
        guard ["on", "off"].contains(word) else { throw arguments.unknown(word, ["on", "off"]) }
        return word == "on"
    }

    /// How a connection is closed.
    enum Closing: Sendable {
        /// The close mode, or `nil` for a half-close by FIN.
        case stream(CloseMode?)
        case webSocket(WebSocketCommand)
    }

    /// The words for a stream, in the order of the menu.
    static let closings: [(word: String, mode: CloseMode?)] = CloseWords.order.map {
        (word: $0?.words.typed ?? "half", mode: $0)
    }

    static func closing(_ arguments: Arguments) throws(Failure) -> Closing {
        if arguments.text.first?.isNumber == true { return .webSocket(try webSocketClosing(arguments)) }
        guard let closing = closings.first(where: { $0.word == arguments.text }) else {
            throw arguments.unknown(arguments.text, closings.map(\.word))
        }
        return .stream(closing.mode)
    }

    private static func open(_ arguments: Arguments, listens: Bool) throws(Failure) -> OpenRequest {
        var arguments = arguments
        let address = try arguments.next(after: arguments.verb, "an address")
        let target: OpenTarget
        do throws(EndpointError) {
            target = try OpenTarget.parse(address, listens: listens)
        } catch {
            throw Failure(error.text, error.problem)
        }
        var request = OpenRequest(target)
        var choices = TLSChoices()
        while let word = arguments.next() {
            switch word {
            case "timeout" where !listens: request.timeout = try arguments.duration(after: word)
            case "no-read": request.standingRead = false
            case "half-open": request.allowsHalfOpen = true
            default:
                guard try choices.accept(word, &arguments) else {
                    throw arguments.unknown(word, listens ? ["no-read", "half-open"] : ["timeout 10s", "no-read"])
                }
            }
        }
        request.tls = try secured(address, target, choices, listens: listens)
        return request
    }

    private static func secured(
        _ address: String, _ target: OpenTarget, _ choices: TLSChoices, listens: Bool
    ) throws(Failure) -> TLSSettings? {
        guard target.isSecure else {
            if choices.isEmpty { return nil }
            throw Failure(address, "TLS options need tls://, as in tls://\(address)")
        }
        guard listens else { return choices.client(hasName: target.endpoint.namesHost) }
        guard !choices.certificate.isEmpty else {
            throw Failure(address, "a TLS server needs a certificate: cert FILE, and key FILE unless it holds both")
        }
        do throws(TLSChoices.Problem) {
            return try choices.server()
        } catch {
            throw Failure(address, error.message)
        }
    }

    static func relay(_ arguments: Arguments) throws(Failure) -> RelayRequest {
        var arguments = arguments
        let listen = try arguments.next(after: arguments.verb, "an address to listen on")
        let target = try arguments.next(after: listen, "a target such as localhost:80")
        var choices = TLSChoices()
        var timeout: Duration?
        while let word = arguments.next() {
            if word == "timeout" {
                timeout = try arguments.duration(after: word)
            } else if try !choices.accept(word, &arguments) {
                throw arguments.unknown(word, ["timeout 10s"] + TLSChoices.words)
            }
        }
        do throws(EndpointError) {
            var request: RelayRequest
            switch listen {
            case "--socks5": request = try RelayRequest.parse(target, by: .socks5, choices)
            case "--http-proxy": request = try RelayRequest.parse(target, by: .http, choices)
            default: request = try RelayRequest.parse(listen, to: target, choices)
            }
            request.timeout = timeout
            return request
        } catch {
            throw Failure(error.text, error.problem)
        }
    }

    /// Parses a read. Without an explicit tag, it gets the next one.
    static func read(_ arguments: Arguments) throws(Failure) -> (request: ReadRequest, hasTag: Bool) {
        var arguments = arguments
        var kind = ReadKindReader()
        var request = ReadRequest(.available(limit: nil))
        var hasTag = false
        while let word = arguments.next() {
            if try checked({ () throws(ReadTextProblem) in try kind.accept(word) { arguments.next() } }) { continue }
            switch word {
            case "timeout": request.timeout = try arguments.duration(after: word)
            case "standing": request.isStanding = true
            case "tag":
                let text = try arguments.next(after: word, "a number")
                guard let tag = Int(text) else { throw Failure(text, "a tag is a whole number") }
                (request.tag, hasTag) = (tag, true)
            default: throw arguments.unknown(word, [ReadRequest.Kind.usage, "timeout 5s", "tag 7", "standing"])
            }
        }
        request.kind = try checked(kind.kind)
        return (request, hasTag)
    }

    private static func checked<Value>(
        _ read: () throws(ReadTextProblem) -> Value
    ) throws(Failure) -> Value {
        do throws(ReadTextProblem) {
            return try read()
        } catch {
            throw Failure(error.word, error.message)
        }
    }

    static func verdict(_ arguments: Arguments) throws(Failure) -> TimeoutVerdict {
        var arguments = arguments
        let word = try arguments.next(after: arguments.verb, "an answer")
        switch word {
        case "fail": return .failOperation
        case "close": return .close
        case "extend":
            guard let more = try arguments.duration(after: word) else { throw Failure(word, "how much longer?") }
            return .extend(by: more)
        default: throw arguments.unknown(word, ["extend 30s", "fail", "close"])
        }
    }

    /// The order of the list, by the name of a column.
    package struct Order: Sendable {
        package var name: String
        package var isReversed: Bool
    }

    static func sorting(_ arguments: Arguments) throws(Failure) -> Order {
        var arguments = arguments
        let name = try arguments.next(after: arguments.verb, "a column")
        guard ListKind.allCases.contains(where: { $0.column(name) != nil }) else {
            throw arguments.unknown(name, ListKind.sockets.sortable.map(\.name))
        }
        guard let word = arguments.next() else { return Order(name: name, isReversed: false) }
        guard word == "reverse" else { throw arguments.unknown(word, ["reverse"]) }
        return Order(name: name, isReversed: true)
    }
}

extension TLSChoices {
    /// The usage in the help.
    static let usage = "[cert F] [key F] [ca F] [sni N] [insecure] ..."

    /// The words after an address that configure TLS. Each except the last is followed by a value.
    static let words = ["cert", "key", "ca", "sni", "alpn", "keylog", "insecure"]

    /// Parses one of these words, and its value. Returns `false` for any other word.
    fileprivate mutating func accept(
        _ word: String, _ arguments: inout Instruction.Arguments
    ) throws(Instruction.Failure) -> Bool {
        switch word {
        case "cert": certificate = try arguments.next(after: word, "a PEM file")
        case "key": key = try arguments.next(after: word, "a PEM file")
        case "ca": authority = try arguments.next(after: word, "a PEM file, or folder/")
        case "sni": serverName = try arguments.next(after: word, "the server's name")
        case "alpn": protocols = try arguments.next(after: word, "protocols, as in h2,http/1.1")
        case "keylog": keyLog = try arguments.next(after: word, "a file")
        case "insecure": isInsecure = true
        default: return false
        }
        return true
    }
}
