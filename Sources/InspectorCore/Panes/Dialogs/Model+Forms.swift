import SocketCore

extension Model {
    /// The fields of the connect and listen dialogs.
    static func openFields(
        _ purpose: Form.Purpose, address: String, as before: OpenRequest? = nil
    ) -> [FormField] {
        var fields = [
            FormField.text(.address, "Address", address, hint: "host:port  tls://  ws://  udp://  unix:/path")
        ]
        if purpose == .connect {
            fields += [
                .text(.serverName, "Server", "", hint: "its name; empty: the host"),
                .text(.authority, "Authority", "", hint: "PEM file, or folder/; empty: the system's"),
            ]
        }
        fields += [
            .text(.certificate, "Certificate", "", hint: "PEM file of ours"),
            .text(.key, "Key", "", hint: "PEM file; empty: the same"),
        ]
        if purpose == .connect { fields.append(.text(.timeout, "Timeout", "", hint: "such as 10s, or empty")) }
        fields += [
            FormField(
                .firstRead, "Read", .toggle(before?.standingRead ?? true), hint: "keep reading whatever arrives"),
            FormField(
                .halfOpen, "Half open", .toggle(before?.allowsHalfOpen ?? false),
                hint: "keep writing after the peer's FIN"),
        ]
        if purpose == .listen {
            fields.append(
                FormField(
                    .hold, "Hold", .toggle(before?.holdsConnections ?? false),
                    hint: "accept none: A takes or refuses each"))
        }
        return fields
    }

    /// Opens the connect dialog. On a closed connection it offers the same address again.
    mutating func openConnectForm() {
        let again = tab != .list && selected?.role == .client && selected?.isLive == false
        // What was chosen the last time is chosen again: who starved a connection on purpose wants the next one so.
        let address = again ? selected?.target ?? "" : ""
        dialog = .form(Form(.connect, Self.openFields(.connect, address: address, as: lastOpened)))
    }

    mutating func openListenForm() {
        dialog = .form(Form(.listen, Self.openFields(.listen, address: "")))
    }

    /// Asks what to read next.
    mutating func openReadForm() {
        guard let selected, selected.isLive, selected.role != .listener else {
            notice = hint("reads are queued on live connections")
            return
        }
        guard selected.ownWebSocket == nil else {
            notice = hint(naming(Self.webSocketReads))
            return
        }
        guard selected.acceptsReads else {
            notice = hint("it is closing: no read is taken any more")
            return
        }
        let tag = (composers[selected.id] ?? Composer()).nextTag
        guard selected.role != .datagram else { return openReceiveForm(selected.id, tag: tag) }
        dialog = .form(
            Form(
                .read(selected.id),
                [
                    FormField(.kind, "Kind", .choice(ReadRequest.Kind.Word.allCases.map(\.rawValue), 0))
                ] + ReadPart.allCases.map(FormField.part) + [
                    .text(.timeout, "Timeout", "", hint: "such as 30s, or empty"),
                    .text(.tag, "Tag", String(tag)),
                    FormField(.standing, "Standing", .toggle(false), hint: "reads again and again"),
                ]))
    }

    /// Asks what becomes of an operation that timed out.
    mutating func openAnswer() {
        if let selected, selected.role == .listener, selected.isLive { return openConnectionMenu(selected) }
        if openTrustMenu() { return }
        guard let selected, let operation = selected.asking else {
            notice = hint("nothing waits for an answer here")
            return
        }
        let more = operation.timeout.map { Format.duration($0) } ?? "30s"
        dialog = .form(
            Form(
                .answer(selected.id, operation),
                [
                    FormField(.verdict, "Answer", .choice(["extend", "fail it", "close"], 0)),
                    .text(.extra, "By", more, hint: "such as 30s"),
                ]))
    }
}

extension FormField {
    /// The field for a part of a read's kind.
    fileprivate static func part(_ part: ReadPart) -> FormField {
        switch part {
        case .length: .text(.part(part), "Length", "", hint: "bytes")
        case .terminator: .text(.part(part), "Until", "\\r\\n", hint: "escapes: \\r \\n \\xHH")
        case .width: FormField(.part(part), "Length as", .choice(part.choices, 2))
        case .order: FormField(.part(part), "Byte order", .choice(part.choices, 0))
        case .offset: .text(.part(part), "After", "0", hint: "bytes of header")
        case .counting: FormField(.part(part), "Counts", .toggle(false), hint: "header and itself too")
        case .limit: .text(.part(part), "At most", "8192", hint: "bytes; empty: no limit")
        }
    }
}

extension Form {
    /// What is wrong, and in which field.
    package struct Problem: Error, Hashable {
        package var field: FormField.Name
        package var message: String
    }

    /// What the filled-in form asks for.
    package var result: Result<Effect, Problem> {
        do {
            switch purpose {
            case .connect, .listen: return .success(try opening())
            case .read(let id): return .success(.send(.read(id, try read())))
            case .answer(let id, let operation):
                return .success(.send(.answerTimeout(id, operation.id, try verdict())))
            case .timeout(let id, let operation):
                return .success(.send(.setTimeout(id, operation.id, try duration(.timeout))))
            case .tls(let id): return .success(try secured(id))
            case .watermarks(let id): return .success(.send(.setWatermarks(id, try watermarks())))
            case .reply(let id, let before): return .success(.setReplies(id, try rules(before)))
            case .save: return .failure(Problem(field: .path, message: "what is saved is known to the reducer only"))
            case .pace(let id): return .success(.setPace(id, try pace()))
            case .destination(let id): return .success(.setDestination(id, try destination()))
            }
        } catch {
            return .failure(error)
        }
    }

    func duration(_ name: FormField.Name) throws(Problem) -> Duration? {
        guard let duration = DurationText.parse(text(name)) else {
            throw Problem(field: name, message: "\(text(name)) is not a duration; write 30s or 500ms")
        }
        return duration
    }

    func number(_ name: FormField.Name, _ range: ClosedRange<Int>, _ what: String) throws(Problem) -> Int {
        let text = text(name).filter { !$0.isWhitespace }
        guard let number = Int(text), range.contains(number) else {
            throw Problem(field: name, message: "\(what), not \(text.isEmpty ? "nothing" : text)")
        }
        return number
    }

    private func opening() throws(Problem) -> Effect {
        let parsed: AddressLine
        switch AddressLine.parse(text(.address), listens: purpose == .listen) {
        case .success(let line): parsed = line
        case .failure(let failure): throw Problem(field: .address, message: failure.message)
        }
        let timeout = try duration(.timeout)
        func request(_ endpoint: OpenTarget) -> OpenRequest {
            OpenRequest(
                endpoint, timeout: timeout, standingRead: isOn(.firstRead), allowsHalfOpen: isOn(.halfOpen),
                holdsConnections: isOn(.hold))
        }
        switch parsed {
        case .demo: return .startDemo
        case .listenTLS(let endpoint):
            var request = request(.stream(endpoint))
            request.tls = try openingTLS(endpoint)
            return .listen(request)
        case .connectTLS(let endpoint):
            var request = request(.stream(endpoint))
            request.tls = try openingTLS(endpoint)
            return .connect(request)
        case .listen(let target): return .listen(try secured(target, request(target)))
        case .relay(let request): return .relay(request)
        case .attach(let name): return .attach(name)
        case .connect(let target): return .connect(try secured(target, request(target)))
        }
    }

    /// With TLS where the address itself asks for it: `wss://`.
    private func secured(_ target: OpenTarget, _ request: OpenRequest) throws(Problem) -> OpenRequest {
        guard target.isSecure, let endpoint = target.endpoint else { return request }
        var request = request
        request.tls = try openingTLS(endpoint)
        return request
    }

    private func read() throws(Problem) -> ReadRequest {
        var reader = ReadKindReader(readKind)
        let kind: ReadRequest.Kind
        do throws(ReadTextProblem) {
            for part in readKind.parts {
                if let text = text(part) { try reader.set(part, text) }
            }
            kind = try reader.kind()
        } catch {
            throw Problem(field: error.part.map { .part($0) } ?? .kind, message: error.description)
        }
        return ReadRequest(
            kind, timeout: try duration(.timeout), tag: try number(.tag, Int.min...Int.max, "a number"),
            isStanding: isOn(.standing))
    }

    /// What a field says of a part; `nil` if it leaves it out.
    private func text(_ part: ReadPart) -> String? {
        switch fields.first(where: { $0.name == .part(part) })?.value {
        case .text(let editor): editor.isEmpty && !part.isRequired ? nil : editor.text
        case .toggle(let isOn): isOn ? part.choices.last : nil
        case .choice(let options, let index): options[index]
        case nil: nil
        }
    }

    private func verdict() throws(Problem) -> TimeoutVerdict {
        switch chosen(.verdict) {
        case 1: return .failOperation
        case 2: return .close
        default:
            guard let more = try duration(.extra) else { throw Problem(field: .extra, message: "how much longer?") }
            return .extend(by: more)
        }
    }
}
