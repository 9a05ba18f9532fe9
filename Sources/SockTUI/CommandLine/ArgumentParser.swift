import InspectorCore
import SocketCore
import SocketWorkshop

/// Parses a command line by `CommandTable`. Options can be anywhere, as `--name value` or `--name=value`. `--` ends
/// them.
struct ArgumentParser {
    private var request = CommandTable.Request()
    private var words: [String] = []
    private var given: [CommandTable.Option] = []

    /// Parses the arguments, without the program's name.
    /// - Throws: the first mistake.
    static func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        var parser = ArgumentParser()
        try parser.read(arguments[...])
        return try parser.finish()
    }

    private mutating func read(_ arguments: ArraySlice<String>) throws(UsageError) {
        var rest = arguments
        while let argument = rest.popFirst() {
            if argument == "--" {
                words += rest
                return
            }
            if argument.hasPrefix("-"), argument.count > 1 {
                try readOption(argument, &rest)
            } else if words.count == 1,
                CommandTable.commands.first(where: { $0.name == words[0] })?.operands.kind == .program
            {
                words += [argument] + rest
                return
            } else {
                words.append(argument)
            }
        }
    }

    private mutating func readOption(_ argument: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        let halves = argument.unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            .map(String.init)
        let name = ["-h": "--help", "-V": "--version"][halves[0]] ?? halves[0]
        guard let option = CommandTable.options.first(where: { $0.name == name }) else {
            throw UsageError(halves[0], "no such option" + Self.suggestion(for: name, of: words.first))
        }
        var value = halves.count > 1 ? halves[1] : nil
        if let wanted = option.value {
            value = value ?? rest.popFirst()
            guard let value else { throw UsageError(name, "needs \(wanted.name) after it") }
            if value.hasNativeBytes, wanted.kind == .text { throw UsageError(value, "\(name) must be UTF-8") }
            if let whole = CommandTable.unquoted(name, value, rest) {
                throw UsageError(name, "quote the whole \(wanted.name): \(name) '\(whole)'")
            }
            note(wanted, [value], of: name)
        } else if value != nil {
            throw UsageError(argument, "\(name) takes no value")
        }
        try option.apply(value ?? "", &request)
        given.append(option)
    }

    private mutating func note(_ value: CommandLineValue, _ words: [String], of owner: String) {
        request.invocation.touching = request.invocation.touching ?? value.touching(words, of: owner)
    }

    private mutating func finish() throws(UsageError) -> Invocation {
        if case .help = request.invocation.mode { request.invocation.mode = .help(words.first) }
        switch request.invocation.mode {
        case .help, .version: return request.invocation
        default: break
        }
        if let printer = CommandTable.printers.first(where: { $0.name == words.first }) {
            note(printer.operands, Array(words.dropFirst()), of: printer.name)
            let fixed = try printer.mode(Array(words.dropFirst()), &request)
            try checkOptions()
            if let fixed { try checkMeaning(fixed) }
            request.invocation.mode = if let fixed { fixed } else { try mode() }
            return request.invocation
        }
        if let name = words.first { try open(name, Array(words.dropFirst())) }
        try checkOptions()
        request.invocation.mode = try mode()
        return request.invocation
    }

    private func checkOptions() throws(UsageError) {
        let command = words.first ?? ""
        for option in given where !option.goes(with: command) {
            // Most commands have a common option: what matters is the one that has not.
            guard !option.isCommon else { throw UsageError(option.name, "cannot be used with \(command)") }
            let commands = Spelling.alternatives(option.commands.sorted())
            throw UsageError(option.name, "works only with \(commands)")
        }
        // `:record` can start a recording later.
        guard request.invocation.recording.path.isEmpty, words.first != CommandTable.exportCommand.name else { return }
        for option in given where CommandTable.namesOfRecording.contains(option.name) {
            throw UsageError(option.name, "needs --record FILE")
        }
    }

    /// Rejects the options of a screen, and of what opens something, where `host` prints and opens nothing.
    private func checkMeaning(_ mode: Invocation.Mode) throws(UsageError) {
        let choice: String
        switch mode {
        case .hostCheck: choice = "--check"
        case .metrics: choice = "--metrics"
        default: return
        }
        let others: Set = ["--json", "--once", "-A", "-W", "--config"]
        for option in given where option.isCommon && !others.contains(option.name) {
            throw UsageError(option.name, "cannot be used with host \(choice)")
        }
    }

    private func mode() throws(UsageError) -> Invocation.Mode {
        if request.invocation.mode == .attachable, !request.isJSON, !request.isOnce, request.script == nil {
            return .attachable
        }
        try request.checkStreams()
        try request.checkReport()
        try checkRewind()
        if let path = request.script { return .script(path) }
        if request.invocation.size != nil { throw UsageError("--size", "needs --script FILE") }
        if request.carriesBytes { return .report(.bytes, isOnce: false) }
        guard request.isJSON || request.isOnce else {
            return request.invocation.report.expectations.isEmpty ? .terminal : .report(.text, isOnce: false)
        }
        if request.invocation.opening.isEmpty {
            throw UsageError(
                request.isJSON ? "--json" : "--once",
                "needs something to open: demo, connect ADDRESS, listen ADDRESS, relay, run or attach PID")
        }
        if request.invocation.report.instant != nil, !request.isOnce {
            throw UsageError("--at", "needs --once or a screen; --json alone prints what happens")
        }
        return .report(request.isJSON ? .json : .text, isOnce: request.isOnce)
    }

    /// Rejects `--rewind` where it is useless: a file already has its whole past, and printed output has no use for
    /// one.
    private func checkRewind() throws(UsageError) {
        guard request.invocation.rewind != nil else { return }
        for case .openFile in request.invocation.opening {
            throw UsageError("--rewind", "is for live runs; an opened file can always be rewound")
        }
        if request.isJSON || request.isOnce || request.carriesBytes {
            throw UsageError("--rewind", "needs a screen or --script; printed output cannot be rewound")
        }
    }

    private mutating func open(_ name: String, _ operands: [String]) throws(UsageError) {
        guard let command = CommandTable.commands.first(where: { $0.name == name }) else {
            throw UsageError(name, MeantCommand.sentence(for: words))
        }
        note(command.operands, operands, of: name)
        let takesProgram = command.operands.kind == .program
        let isWhole = takesProgram || command.operands.hasStream
        let operands = isWhole ? operands : try addresses(operands, of: name)
        if command.operands == .none, let extra = operands.first {
            throw UsageError(extra, "\(name) takes no address")
        }
        if command.isBareAllowed, operands.isEmpty {
            request.invocation.mode = .attachable
            return
        }
        if command.operands != .none, operands.isEmpty, request.proxies.isEmpty {
            let isFile = command.operands.kind == .read
            let missing = takesProgram ? "a command is" : isFile ? "a file is" : "an address is"
            throw UsageError(name, "\(missing) missing, as in socktui \(name) \(command.example)")
        }
        guard operands.count.isMultiple(of: command.operandsEach) else {
            throw UsageError(operands.last ?? name, "a target is missing, as in socktui \(name) \(command.example)")
        }
        for proxy in request.proxies {
            do throws(EndpointError) {
                var relay = try RelayRequest.parse(proxy.listen, by: proxy.kind, request.tls)
                relay.timeout = request.timeout
                request.invocation.opening.append(.relay(relay))
            } catch {
                throw UsageError(proxy.kind == .http ? "--http-proxy" : "--socks5", error.description)
            }
        }
        let each = takesProgram ? max(1, operands.count) : command.operandsEach
        let groups = stride(from: 0, to: operands.count, by: each).map { Array(operands[$0..<($0 + each)]) }
        for group in command.operands == .none ? [[]] : groups {
            do {
                request.invocation.opening.append(try command.effect(group, request))
            } catch {
                throw UsageError(error.text.isEmpty ? "an empty address" : error.text, error.problem)
            }
        }
    }

    /// Returns the operands without `-`, which selects standard input and output.
    private mutating func addresses(_ operands: [String], of name: String) throws(UsageError) -> [String] {
        let pipe = CommandTable.Request.pipe
        let addresses = operands.filter { $0 != pipe }
        guard addresses.count < operands.count else { return operands }
        guard name == "connect" || name == "listen" else {
            throw UsageError(
                pipe, "only connect and listen pass on standard input, as in socktui connect localhost:80 -")
        }
        guard addresses.count == 1, operands.count == 2, let address = addresses.first else {
            let example = "socktui \(name) \(addresses.first ?? "localhost:80") -"
            throw UsageError(pipe, "needs a single address, as in \(example)")
        }
        if OpenTarget.Scheme(of: address)?.hasMessages == true {
            throw UsageError(pipe, "carries a byte stream, but \(address) has messages; use --send and --expect")
        }
        if !request.standingRead { throw UsageError(pipe, "cannot be used with --no-read, which receives nothing") }
        request.carriesBytes = true
        // The peer's end of stream does not end standard input.
        request.allowsHalfOpen = true
        // A listener accepts one connection, on request.
        if name == "listen" { request.holdsConnections = true }
        return addresses
    }

    /// Suggests an option that goes with the command, if that is known already.
    private static func suggestion(for option: String, of command: String?) -> String {
        let command = CommandTable.words.first { $0.name == command }?.name
        let known = CommandTable.options.filter { $0.help != nil && (command.map($0.goes) ?? true) }.map(\.name)
        let near = Spelling.suggestion(for: option, among: known)
        return near.isEmpty ? "; see socktui \(command.map { "\($0) " } ?? "")--help" : near
    }

    static func suggestion(for word: String, among known: [String]) -> String {
        let suggestion = Spelling.suggestion(for: word, among: known)
        return suggestion.isEmpty ? "; see socktui --help" : suggestion
    }
}
