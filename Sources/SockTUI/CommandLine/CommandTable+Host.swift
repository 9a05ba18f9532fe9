import InspectorCore
import SocketCore

extension CommandTable {
    /// The commands that inspect the sockets of any program on this host.
    static let hostCommands: [Printer] = [
        Printer(name: "why", operands: .text("WHAT"), help: "why it hangs: a PID, NAME, :PORT or ADDRESS") {
            (words, request) throws(UsageError) in
            if let mode = try request.whyAcross(words) { return mode }
            guard words.count == 1 else {
                throw UsageError("why", "needs one of these after it: \(HostTarget.forms)")
            }
            do throws(HostTarget.Problem) {
                let target = try HostTarget.parse(words[0])
                request.noteHost("")
                return .why(target)
            } catch {
                throw UsageError(sentence: error.sentence)
            }
        },
        Printer(name: "host", operands: .text("[FILTER]"), help: "every program's sockets; --check lists problems") {
            (words, request) throws(UsageError) in
            request.noteHost(try request.takePlaces(words).joined(separator: " "))
            if case .failure(let failure) = Filter.parse(request.invocation.host.filter) {
                throw UsageError(request.invocation.host.filter, failure.message)
            }
            let host = request.invocation.host
            for (isThere, option) in [
                (host.namespace != nil, "--netns"), (request.metrics != nil, "--metrics"),
                (host.peeks.isOn, "--peek"), (host.peeks.allowsOthers, "--peek-others"),
            ] where isThere && !host.places.isEmpty {
                throw UsageError(option, "cannot be used with several hosts")
            }
            if request.checksHost {
                try request.checkPeeks(with: "--check")
                if request.isOnce {
                    throw UsageError(
                        "--once",
                        "cannot be used with --check: a single snapshot cannot tell how long bytes have waited")
                }
                return .hostCheck
            }
            if let metrics = request.metrics { return try request.metricsMode(metrics) }
            for (isThere, option) in [
                (request.invocation.host.span != nil, "--for"), (request.invocation.host.level != nil, "--level"),
                (request.invocation.host.isStrict, "--strict"),
            ] where isThere {
                throw UsageError(option, "needs host --check; the screen shows everything until you quit")
            }
            request.invocation.opening = [.showHost]
            return nil
        },
        Printer(name: "agent", help: "the far end of host @HOST, for another socktui") {
            (words, request) throws(UsageError) in
            if let extra = words.first { throw UsageError(extra, "agent takes no operand") }
            return .agent
        },
        Printer(name: "mcp", operands: .text("[FILTER]"), help: "run as a Model Context Protocol server, for editors") {
            (words, request) throws(UsageError) in
            request.noteHost(words.joined(separator: " "))
            if case .failure(let failure) = Filter.parse(request.invocation.host.filter) {
                throw UsageError(request.invocation.host.filter, failure.message)
            }
            request.invocation.host.tellsPayload = request.invocation.host.peeks.isOn
            request.invocation.host.peeks = PeekRules()
            return .tools
        },
    ]

    private static let host: Set<String> = ["host", "mcp", "why"]
    private static let screens: Set<String> = ["attach", "host"]

    static let hostOptions: [Option] = [
        Option(name: "--host", commands: ["config"], help: "what works on this host, and what does not and why") {
            (_, request) throws(UsageError) in request.tellsHost = true
        },
        Option(name: "--check", commands: ["host"], help: "print what is wrong; exit 1 if anything is") {
            (_, request) throws(UsageError) in request.checksHost = true
        },
        Option(
            name: "--metrics", value: .text("ADDRESS"), commands: ["host"],
            help: "serve metrics to Prometheus; --once --metrics -: print them"
        ) {
            (text, request) throws(UsageError) in request.metrics = text
        },
        Option(
            name: "--for", value: .text("TIME"), commands: host.union(["capture"]), help: "how long to watch"
        ) {
            (text, request) throws(UsageError) in
            request.invocation.host.span = try duration(text, "--for")
        },
        Option(
            name: "--longer-than", value: .text("TIME"), commands: ["why"], help: "exit 1 if a request waits longer"
        ) {
            (text, request) throws(UsageError) in
            request.invocation.host.answer.limit = try duration(text, "--longer-than")
        },
        Option(name: "--all", commands: ["why"], help: "describe every connection, however many there are") {
            (_, request) throws(UsageError) in request.invocation.host.answer.tellsAll = true
        },
        Option(
            name: "--level", value: .text("LEVEL"), commands: ["host"],
            help: "exit 1 at this level or worse: note, warning, critical"
        ) {
            (text, request) throws(UsageError) in
            guard let level = Severity.allCases.first(where: { $0.name == text }) else {
                let words = Severity.allCases.map(\.name).joined(separator: ", ")
                throw UsageError("--level", "\(text) is not a level; write one of \(words)")
            }
            request.invocation.host.level = level
        },
        Option(name: "--strict", commands: ["host"], help: "exit 3 if anything was hidden from the check") {
            (_, request) throws(UsageError) in request.invocation.host.isStrict = true
        },
        Option(
            name: "--through", value: .text("NAME=COMMAND"), commands: ["host", "why"],
            help: "reach the host NAME by COMMAND instead of ssh"
        ) {
            (text, request) throws(UsageError) in
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            let words = parts.count == 2 ? parts[1].split(whereSeparator: \.isWhitespace).map(String.init) : []
            guard !words.isEmpty, HostPlace.isName(parts[0]) else {
                throw UsageError("--through", "\(text): write NAME=COMMAND, such as 'db=kubectl exec -i db-0 --'")
            }
            guard !request.invocation.host.places.contains(where: { $0.name == parts[0] }) else {
                throw UsageError("--through", "\(parts[0]) is there twice")
            }
            request.invocation.touching = request.invocation.touching ?? "--through"
            request.invocation.host.places.append(HostPlace(name: parts[0], through: words))
        },
        Option(name: "--no-calls", commands: host, help: "do not read threads' system calls") {
            (_, request) throws(UsageError) in request.invocation.host.readsCalls = false
        },
        Option(
            name: "--peek", commands: screens.union(["mcp"]),
            help: "show unread bytes from the start; mcp: include them"
        ) {
            (_, request) throws(UsageError) in request.invocation.host.peeks.isOn = true
        },
        Option(name: "--peek-others", commands: screens, help: "let u show bytes of other users' programs too") {
            (_, request) throws(UsageError) in request.invocation.host.peeks.allowsOthers = true
        },
        Option(
            name: "--netns", value: .text("PID"), commands: host, help: "use the network namespace of PID"
        ) {
            (text, request) throws(UsageError) in
            guard let number = Int32(text), number > 0 else {
                throw UsageError("--netns", "\(text) is not a PID")
            }
            request.invocation.host.namespace = number
        },
    ]
}

extension CommandTable.Request {
    /// Rejects unread bytes in a run without a screen.
    func checkPeeks(with option: String) throws(UsageError) {
        guard invocation.host.peeks != PeekRules() else { return }
        let name = invocation.host.peeks.isOn ? "--peek" : "--peek-others"
        throw UsageError(name, "needs a screen; leave out \(option)")
    }
}

extension CommandTable.Request {
    /// Passes the other options on to the inspection of the host.
    fileprivate mutating func noteHost(_ filter: String) {
        invocation.host.filter = filter
        invocation.host.isJSON = isJSON
    }
}

extension CommandTable.Request {
    /// Takes the hosts from the operands, and returns the others.
    fileprivate mutating func takePlaces(_ words: [String]) throws(UsageError) -> [String] {
        for word in words where word.hasPrefix("@") {
            guard try question(word).target == nil else {
                throw UsageError(word, "host takes @NAME alone; write why \(word)")
            }
        }
        return words.filter { !$0.hasPrefix("@") }
    }

    /// Returns the run of `why` about several hosts, or `nil` if the operands name none.
    fileprivate mutating func whyAcross(_ words: [String]) throws(UsageError) -> Invocation.Mode? {
        guard words.contains(where: { $0.hasPrefix("@") }) || !invocation.host.places.isEmpty else { return nil }
        var questions: [HostQuestion] = []
        for word in words {
            guard word.hasPrefix("@") else {
                let there = "@NAME" + (word.hasPrefix(":") ? "" : "/") + word
                throw UsageError(word, "with several hosts, write where it is: \(there)")
            }
            let (place, target) = try question(word)
            if let target { questions.append(HostQuestion(place: place, target: target)) }
        }
        guard !questions.isEmpty else {
            throw UsageError("why", "name what hangs on one of the hosts: @NAME:PORT, @NAME/PID or @NAME/PROGRAM")
        }
        guard invocation.host.namespace == nil else {
            throw UsageError("--netns", "cannot be used with several hosts")
        }
        noteHost("")
        return .whyAcross(questions)
    }

    /// Reads an operand that names a host, and notes the host.
    private mutating func question(_ word: String) throws(UsageError) -> (place: HostPlace, target: HostTarget?) {
        var place: HostPlace
        let target: HostTarget?
        do throws(HostTarget.Problem) { (place, target) = try HostQuestion.parse(word) } catch {
            throw UsageError(sentence: error.sentence)
        }
        if let known = invocation.host.places.first(where: { $0.name == place.name }) {
            place = known
        } else {
            guard invocation.host.places.count < HostOrdinal.most else {
                throw UsageError(word, "a view has \(HostOrdinal.most) hosts at most")
            }
            invocation.host.places.append(place)
        }
        invocation.touching = invocation.touching ?? word
        return (place, target)
    }

    /// Returns the run of `host --metrics`, which goes with nothing that chooses or prints otherwise.
    fileprivate func metricsMode(_ text: String) throws(UsageError) -> Invocation.Mode {
        let host = invocation.host
        for (isThere, option) in [
            (!host.filter.isEmpty, host.filter), (isJSON, "--json"), (script != nil, "--script"),
            (host.span != nil, "--for"), (host.level != nil, "--level"), (host.isStrict, "--strict"),
        ] where isThere {
            throw UsageError(option, "cannot be used with --metrics, which covers all sockets")
        }
        try checkPeeks(with: "--metrics")
        if text == "-" || isOnce {
            guard text == "-", isOnce else {
                throw UsageError("--metrics", "write --once --metrics - to print, or --metrics ADDRESS to serve")
            }
            return .metrics(nil)
        }
        let endpoint: Endpoint
        do throws(EndpointError) { endpoint = try Endpoint.parse(text) } catch {
            throw UsageError("--metrics", error.description)
        }
        guard endpoint.path == nil else {
            throw UsageError("--metrics", "\(text): Prometheus scrapes over TCP; write 127.0.0.1:9464")
        }
        return .metrics(endpoint)
    }
}
