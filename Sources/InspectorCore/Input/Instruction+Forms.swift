import SocketCore

extension Instruction {
    /// The verbs that take arguments, in the order of the help.
    package static let forms: [Form] = streamForms + webSocketForms + viewForms

    private static let streamForms: [Form] = [
        Form(
            verb: "connect", arguments: "ADDRESS [timeout 10s] [no-read] [half-open] [TLS]",
            help: "connect to an address", words: ["timeout", "no-read", "half-open"] + TLSChoices.words
        ) { (arguments) throws(Failure) in .connect(try open(arguments, listens: false)) },
        Form(
            verb: "listen", arguments: "ADDRESS [no-read] [half-open] [TLS]", help: "listen on an address",
            words: ["no-read", "half-open"] + TLSChoices.words
        ) { (arguments) throws(Failure) in .listen(try open(arguments, listens: true)) },
        Form(
            verb: "relay", arguments: "LISTEN TARGET [timeout 10s] [TLS]", help: "listen, and connect on",
            words: ["timeout"] + TLSChoices.words
        ) { (arguments) throws(Failure) in .relay(try relay(arguments)) },
        Form(
            verb: "read", arguments: "\(ReadRequest.Kind.usage) [timeout 5s] [tag 7] [standing]", help: "queue a read",
            words: ReadRequest.Kind.vocabulary + ["timeout", "tag", "standing"]
        ) { (arguments) throws(Failure) in try read(arguments) },
        Form(verb: "send", arguments: "TEXT", help: "send just these bytes; \\r \\n \\x00 are escapes") {
            (arguments) throws(Failure) in
            switch EscapedText.parse(arguments.whole) {
            case .success(let bytes): return .send(bytes)
            case .failure(let failure): throw Failure("send", "column \(failure.column): \(failure.message)")
            }
        },
        Form(
            verb: "close", arguments: closings.map(\.0).joined(separator: "|"),
            help: "close; a WebSocket: CODE [REASON]", words: closings.map(\.0) + ["1000"]
        ) { (arguments) throws(Failure) in
            if arguments.text.first?.isNumber == true { return .act(.webSocket(try closing(arguments))) }
            guard let mode = closings.first(where: { $0.0 == arguments.text }) else {
                throw arguments.unknown(arguments.text, closings.map(\.0))
            }
            return .act(mode.1.map { .close($0) } ?? .halfClose)
        },
        Form(
            verb: "answer", arguments: "extend 30s|fail|close", help: "answer what timed out",
            words: ["extend", "fail", "close"]
        ) { (arguments) throws(Failure) in .answer(try verdict(arguments)) },
    ]

    private static let viewForms: [Form] = [
        Form(verb: "filter", arguments: "WORDS", help: "list only what these words describe") {
            (arguments) throws(Failure) in
            switch Filter.parse(arguments.text) {
            case .success(let filter): return .filter(filter)
            case .failure(let failure): throw Failure("filter", failure.message)
            }
        },
        Form(verb: "search", arguments: "TEXT", help: "look for a text in the events") {
            (arguments) throws(Failure) in .search(arguments.whole)
        },
        Form(
            verb: "sort", arguments: "COLUMN [reverse]", help: "order the list",
            words: ListColumn.all.map(\.name) + ["reverse"]
        ) { (arguments) throws(Failure) in .sort(try sorting(arguments)) },
        Form(verb: "select", arguments: "ID", help: "put the cursor on a connection") {
            (arguments) throws(Failure) in
            guard let number = UInt64(arguments.text.drop { $0 == "#" }) else {
                throw Failure(arguments.text, "select takes a connection's number, as in select 7")
            }
            return .select(SocketID(number))
        },
        Form(
            verb: "view", arguments: ViewMode.allCases.map(\.rawValue).joined(separator: "|"),
            help: "show traffic so", words: ViewMode.allCases.map(\.rawValue)
        ) { (arguments) throws(Failure) in
            guard let mode = ViewMode(rawValue: arguments.text) else {
                throw arguments.unknown(arguments.text, ViewMode.allCases.map(\.rawValue))
            }
            return .view(mode)
        },
        Form(verb: "help", arguments: "WORD", help: "the help, what holds this word alone") {
            (arguments) throws(Failure) in .help(arguments.text)
        },
        Form(verb: "mouse", arguments: "on|off", help: "let the mouse work here", words: ["on", "off"]) {
            (arguments) throws(Failure) in
            let word = arguments.text
            guard ["on", "off"].contains(word) else { throw arguments.unknown(word, ["on", "off"]) }
            return .mouse(arguments.text == "on")
        },
    ]

    /// In the order of the menu.
    private static let closings: [(String, CloseMode?)] = CloseWords.order.map { ($0?.words.typed ?? "half", $0) }

    private static func open(_ arguments: Arguments, listens: Bool) throws(Failure) -> OpenRequest {
        var arguments = arguments
        let address = try arguments.next(after: arguments.verb, "an address")
        let target: OpenTarget
        do throws(EndpointError) {
            target = try OpenTarget.parse(TLSAddress.rest(of: address) ?? address, allowsPortZero: listens)
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
                guard try choices.take(word, &arguments) else {
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
        guard TLSAddress.rest(of: address) != nil || target.isSecure else {
            if choices.isEmpty { return nil }
            throw Failure(address, "what is said about TLS goes with tls://, as in tls://\(address)")
        }
        guard let endpoint = target.endpoint else { throw Failure(address, "TLS goes over streams only") }
        guard listens else { return choices.client(hasName: endpoint.namesHost) }
        guard !choices.certificate.isEmpty else {
            throw Failure(address, "a TLS server needs a certificate: cert FILE, and key FILE unless it holds both")
        }
        do throws(TLSChoices.Problem) {
            return try choices.server()
        } catch {
            throw Failure(address, error.message)
        }
    }

    private static func relay(_ arguments: Arguments) throws(Failure) -> RelayRequest {
        var arguments = arguments
        let listen = try arguments.next(after: arguments.verb, "an address to listen on")
        let target = try arguments.next(after: listen, "a target such as localhost:80")
        var choices = TLSChoices()
        var timeout: Duration?
        while let word = arguments.next() {
            if word == "timeout" {
                timeout = try arguments.duration(after: word)
            } else if try !choices.take(word, &arguments) {
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

    private static func read(_ arguments: Arguments) throws(Failure) -> Instruction {
        var arguments = arguments
        var kind = ReadKindReader()
        var request = ReadRequest(.available(limit: nil))
        var hasTag = false
        while let word = arguments.next() {
            if try checked({ () throws(ReadTextProblem) in try kind.take(word) { arguments.next() } }) { continue }
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
        return .read(request, hasTag: hasTag)
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

    private static func verdict(_ arguments: Arguments) throws(Failure) -> TimeoutVerdict {
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

    private static func sorting(_ arguments: Arguments) throws(Failure) -> Sorting {
        var arguments = arguments
        let name = try arguments.next(after: arguments.verb, "a column")
        guard ListColumn.named(name) != nil else {
            throw arguments.unknown(name, ListColumn.all.map(\.name))
        }
        var sorting = Sorting(name)
        guard let word = arguments.next() else { return sorting }
        guard word == "reverse" else { throw arguments.unknown(word, ["reverse"]) }
        sorting.descending.toggle()
        return sorting
    }
}

extension TLSChoices {
    /// For the help.
    static let usage = "[cert F] [key F] [ca F] [sni N] [insecure] ..."

    /// The words after an address that configure TLS; each but the last is followed by a value.
    static let words = ["cert", "key", "ca", "sni", "alpn", "keylog", "insecure"]

    /// Takes one of these words, and its value; false: it is none of them.
    fileprivate mutating func take(
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
