import InspectorCore
import InspectorScreen
import InspectorShell
import SocketCore
import SocketWorkshop

/// The commands and options: the single table from which the parser and --help are made.
enum CommandTable {
    /// The version of program and library. It is defined only here. `-dev` means not released yet.
    static let version = "0.2.0-dev"

    /// A word that says what to open.
    struct Command: Sendable {
        var name: String
        var operands = CommandLineValue.none
        var help: String
        /// The number of operands that make one thing to open.
        var operandsEach = 1
        /// Whether it can also be used without operands.
        var isBareAllowed = false
        /// Example operands, for the error about missing ones.
        var example = "localhost:6379"
        /// Returns the effect of `operandsEach` operands, or of the bare command.
        var effect: @Sendable (_ operands: [String], _ request: Request) throws(EndpointError) -> Effect
    }

    /// A word that begins with `--`.
    struct Option: Sendable {
        var name: String
        /// Its value, or `nil` if it takes none.
        var value: CommandLineValue?
        /// The commands it applies to. If empty, it applies to all of them, and without a command.
        var commands: Set<String> = []
        /// The help text, or `nil` to leave the option out of the help.
        var help: String?
        /// Applies the option to the request.
        var apply: @Sendable (_ value: String, _ request: inout Request) throws(UsageError) -> Void
    }

    /// The arguments parsed so far.
    struct Request {
        var invocation = Invocation()
        var timeout: Duration?
        var standingRead = true
        var allowsHalfOpen = false
        /// Proxies to open, in the order requested.
        var proxies: [(kind: ProxyKind, listen: String)] = []
        var holdsConnections = false
        var replies: [ReplyRule] = []
        var isJSON = false
        var isOnce = false
        var script: String?
        /// Whether `-` is among the addresses, which connects standard input and output to the peer.
        var carriesBytes = false
        /// How many of the expectations already have the time limit of a following `--within`.
        var limitedExpectations = 0
        var greeting: [UInt8] = []
        var tls = TLSChoices()
        var export = ExportRequest()
        var replay = ReplayRequest()
        var webSocket = WebSocketChoices()
        var run = RunRequest([])
        var printsConfiguration = false
        /// Whether `host` prints problems instead of showing a screen.
        var checksHost = false
        /// Where `host` serves metrics, or `-` to print them.
        var metrics: String?

        fileprivate func open(_ text: String, listens: Bool = false) throws(EndpointError) -> OpenRequest {
            let target = try OpenTarget.parse(text, listens: listens)
            var request = OpenRequest(
                target, timeout: timeout, standingRead: standingRead, allowsHalfOpen: allowsHalfOpen,
                holdsConnections: holdsConnections)
            request.greeting = greeting
            request.replies = replies
            request.tls = try settings(for: target, text, listens: listens)
            request.webSocket = webSocket
            try checkWebSocket(target, text)
            return request
        }
    }

    static let commands: [Command] = [
        Command(name: "demo", help: "run a demo with live sockets") { (_, _) throws(EndpointError) in
            .startDemo
        },
        Command(name: "connect", operands: .address("ADDRESS... [-]"), help: "connect and inspect; -: send stdin to it")
        {
            (words, request) throws(EndpointError) in .connect(try request.open(words[0]))
        },
        Command(
            name: "listen", operands: .address("ADDRESS... [-]"), help: "listen, and inspect what connects",
            example: ":8080"
        ) {
            (words, request) throws(EndpointError) in .listen(try request.open(words[0], listens: true))
        },
        Command(
            name: "relay", operands: .address("LISTEN TARGET..."), help: "listen, forward, and inspect the traffic",
            operandsEach: 2, example: ":9000 localhost:6379"
        ) {
            (words, request) throws(EndpointError) in
            var relay = try RelayRequest.parse(words[0], to: words[1], request.tls)
            relay.timeout = request.timeout
            return .relay(relay)
        },
        Command(
            name: "attach", operands: .inspected("[PID|NAME|PATH]..."), help: "inspect programs that allow it",
            isBareAllowed: true
        ) {
            (words, _) throws(EndpointError) in .attach(words[0])
        },
        runCommand,
        openCommand,
    ]

    /// A word that prints a text to stdout.
    struct Printer: Sendable {
        var name: String
        var operands = CommandLineValue.none
        var help: String
        /// Returns the mode, or `nil` to use the one that the options request.
        var mode: @Sendable (_ operands: [String], _ request: inout Request) throws(UsageError) -> Invocation.Mode?
    }

    static let printers: [Printer] =
        [captureCommand, exportCommand, controlCommand] + replayCommands + hostCommands + [
            Printer(name: "config", help: "where the configuration is, or --print it") {
                (words, request) throws(UsageError) in
                if let extra = words.first {
                    throw UsageError(extra, "config takes no operand; write --print or --config FILE")
                }
                return request.printsConfiguration ? .configuration : .configurationPlace
            },
            Printer(name: "completions", operands: .text("SHELL"), help: "completions for bash, zsh or fish") {
                (words, _) throws(UsageError) in
                guard words.count == 1, let document = Document(rawValue: words[0]), document != .man else {
                    throw UsageError("completions", "needs a shell: bash, zsh or fish")
                }
                return .document(document)
            },
            Printer(name: "man", help: "the manual; socktui man | man -l -") { (words, _) throws(UsageError) in
                guard let extra = words.first else { return .document(.man) }
                throw UsageError(extra, "man takes no operand")
            },
        ]

    static let options: [Option] =
        openingOptions + captureOptions + runOptions + hostOptions + reportOptions + generalOptions + recordingOptions
        + exportOptions + replayOptions + tlsOptions + webSocketOptions + faultOptions

    private static let openingOptions: [Option] = [
        Option(name: "--no-read", commands: ["connect", "listen"], help: "queue no read, now or with c later") {
            (_, request) throws(UsageError) in request.standingRead = false
        },
        Option(
            name: "--timeout", value: .text("TIME"), commands: ["connect", "relay", "run"],
            help: "give up connecting after this long"
        ) {
            (text, request) throws(UsageError) in
            request.timeout = try duration(text, "--timeout")
        },
        Option(name: "--half-open", commands: ["connect"], help: "stay open for writing after the peer's FIN") {
            (_, request) throws(UsageError) in request.allowsHalfOpen = true
        },
        proxy("--socks5", .socks5, help: "relay to the target each client names, by SOCKS 5"),
        proxy("--http-proxy", .http, help: "relay to the target each client names, by CONNECT"),
        Option(
            name: "--reply", value: .text("RULE"), commands: ["connect", "listen"],
            help: "reply: 'when /^PING/ send +PONG\\r\\n'"
        ) {
            (text, request) throws(UsageError) in
            switch ReplyRule.parse(text) {
            case .success(let rule): request.replies.append(rule)
            case .failure(let failure):
                throw UsageError("--reply", "column \(failure.column) of \(text): \(failure.message)")
            }
        },
        Option(name: "--hold", commands: ["listen"], help: "hold connections; accept or refuse each yourself") {
            (_, request) throws(UsageError) in request.holdsConnections = true
        },
        Option(
            name: "--send", value: .text("TEXT"), commands: ["connect"],
            help: "send this first; \\r\\n \\x00 are escapes"
        ) {
            (text, request) throws(UsageError) in
            switch EscapedText.parse(text) {
            case .success(let bytes): request.greeting += bytes
            case .failure(let failure):
                throw UsageError("--send", "column \(failure.column) of \(text): \(failure.message)")
            }
        },
    ]

    private static let generalOptions: [Option] = [
        Option(name: "--legs", help: "list each leg of a relayed connection as a row of its own") {
            (_, request) throws(UsageError) in request.invocation.showsLegs = true
        },
        Option(name: "--no-history", help: "neither read nor keep lines sent in other runs") {
            (_, request) throws(UsageError) in request.invocation.keepsHistory = false
        },
        Option(name: "--keep", value: .text("SIZE"), help: "keep SIZE of traffic per connection; 4M by default") {
            (text, request) throws(UsageError) in
            request.invocation.keep = try size(text, "--keep")
        },
        Option(name: "--keep-total", value: .text("SIZE"), help: "how much in all; 64M by default") {
            (text, request) throws(UsageError) in
            request.invocation.keepTotal = try size(text, "--keep-total")
        },
        Option(name: "-A", value: .text("WARNING"), help: "never show this warning, as in -A idle; all: hide all") {
            (name, request) throws(UsageError) in
            guard request.invocation.lints.allow(name) else { throw noWarning("-A", name) }
        },
        Option(
            name: "-W", value: .text("WARNING"),
            help: "show this warning; idle=5m: after 5m; all: show all"
        ) {
            (name, request) throws(UsageError) in
            do throws(LintSettings.Problem) {
                try request.invocation.lints.warn(reading: name)
            } catch {
                throw UsageError("-W", error.message)
            }
        },
        Option(name: "--ascii", help: "draw with ASCII only") {
            (_, request) throws(UsageError) in request.invocation.isASCII = true
        },
        Option(name: "--color", value: .text("DEPTH"), help: "colors: auto, 256, 16, 8 or none; wins over NO_COLOR") {
            (text, request) throws(UsageError) in
            guard let depth = Configuration.Depth(rawValue: text) else {
                throw UsageError("--color", "\(text) is not a color depth; write auto, 256, 16, 8 or none")
            }
            request.invocation.depth = depth
        },
        Option(name: "--theme", value: .text("NAME"), help: "colors for this background: auto, light or dark") {
            (text, request) throws(UsageError) in
            guard let theme = Theme(rawValue: text) else {
                throw UsageError("--theme", "\(text) is not a theme; write \(Theme.words)")
            }
            request.invocation.theme = theme
        },
        Option(name: "--config", value: .reads("FILE"), help: "the configuration; a script reads only this") {
            (path, request) throws(UsageError) in request.invocation.configuration = path
        },
        Option(name: "--print", commands: ["config"], help: "print the configuration in force") {
            (_, request) throws(UsageError) in request.printsConfiguration = true
        },
        Option(name: "--log", value: .writes("FILE"), help: "add the program's own log to this file") {
            (path, request) throws(UsageError) in request.invocation.log = path
        },
        Option(name: "--secure", help: "touch no files, start no editor; always on in sudo") {
            (_, request) throws(UsageError) in request.invocation.isSecure = true
        },
        Option(name: "--help", help: "show this; after a command, its own options") {
            (_, request) throws(UsageError) in request.invocation.mode = .help(nil)
        },
        Option(name: "--version", help: "show the version") {
            (_, request) throws(UsageError) in request.invocation.mode = .version
        },
        Option(name: "--trap-after-start", value: .text("WHERE")) {
            (text, request) throws(UsageError) in
            guard let trap = Invocation.Trap(rawValue: text) else {
                throw UsageError("--trap-after-start", "\(text) is not a place; write main or thread")
            }
            request.invocation.trap = trap
        },
    ]

    static func size(_ text: String, _ option: String) throws(UsageError) -> Int {
        guard let size = SizeText.parse(text) else {
            throw UsageError(option, "\(text) is not a size; write 4M or 512K")
        }
        return size
    }

    private static func proxy(_ name: String, _ kind: ProxyKind, help: String) -> Option {
        Option(name: name, value: .address("LISTEN"), commands: ["relay"], help: help) {
            (text, request) throws(UsageError) in
            request.proxies.append((kind, text))
        }
    }

    private static func noWarning(_ option: String, _ name: String) -> UsageError {
        UsageError(option, Lint.whyUnknown(name))
    }

    /// The output of --help.
    static var help: String {
        let commandRows =
            commands.map { ("  \($0.name) \($0.operands.name)", $0.help) }
            + printers.map { ("  \($0.name) \($0.operands.name)", $0.help) }
        let optionRows = rows(of: options) { option in
            let commands = option.commands.sorted()
            let words = commands.count > 3 ? commands[0] + ", ..." : commands.joined(separator: ", ")
            return commands.isEmpty ? "" : " (\(words))"
        }
        return """
            socktui \(version) - look into live sockets: queues, progress, flags, timers

            socktui [COMMAND] [OPTION...]
            \(columns([("  (none)", "a start screen that asks what to open")] + commandRows))

            Options
            \(columns(optionRows))

            Configuration: $XDG_CONFIG_HOME/socktui/config or config.toml, or the same under
            ~/.config/socktui; socktui config says which file is read

            WARNING (* hidden by default)
            \(warnings)

            \(addresses)
            """
    }

    private static let addresses = """
        ADDRESS: host:port, [::1]:port, :port, unix:/path, unix:@name or tls://host:port
        WebSockets: ws://host:port/path, wss://host/path, ws+unix:/path:/resource
        datagrams: udp://host:port, udp://:port, udp://239.1.2.3:port?interface=lo,
                   unixgram:/path or unixgram:@name
        """

    /// Returns the output of --help after a command: its own options. Without a known command, returns all.
    static func help(of name: String?) -> String {
        let known =
            commands.map { ($0.name, $0.operands.name, $0.help) }
            + printers.map { ($0.name, $0.operands.name, $0.help) }
        guard let (name, operands, text) = known.first(where: { $0.0 == name }) else { return help }
        let own = options.filter { $0.commands.contains(name) }
        let usage = ["socktui", name, operands, "[OPTION...]"].filter { !$0.isEmpty }.joined(separator: " ")
        var parts = ["\(usage): \(text)"]
        if !own.isEmpty { parts.append("Options\n" + columns(rows(of: own) { _ in "" })) }
        if name == controlCommand.name { parts.append("COMMAND\n" + controlWords) }
        if breakable.contains(name) {
            parts.append("RULE: [CONDITION...] [upstream|downstream] EFFECT\n" + columns(faultWords))
        }
        if operands.contains("ADDRESS"), commands.contains(where: { $0.name == name }) { parts.append(addresses) }
        return (parts + ["Options of every command: socktui --help"]).joined(separator: "\n\n")
    }

    private static func rows(of options: [Option], note: (Option) -> String) -> [(String, String)] {
        options.compactMap { option in
            option.help.map { ("  \(option.name) \(option.value?.name ?? "")", $0 + note(option)) }
        }
    }

    /// The names of the warnings, in lines that fit 80 columns.
    private static var warnings: String {
        var lines = [""]
        for lint in Lint.all {
            let name = lint.name + (lint.isAllowed ? "*" : "")
            if lines[lines.count - 1].count + name.count > 76 { lines.append("") }
            lines[lines.count - 1] += "  " + name
        }
        return lines.joined(separator: "\n")
    }

    private static func columns(_ rows: [(String, String)]) -> String {
        let width = (rows.map(\.0.count).max() ?? 0) + 2
        return rows.map { $0 + String(repeating: " ", count: width - $0.count) + $1 }.joined(separator: "\n")
    }
}

extension Size {
    /// Parses `80x24`. Each side is 1 to 1000.
    init?(_ text: String) {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1], (1...1000).contains(width),
            (1...1000).contains(height)
        else { return nil }
        self.init(width, height)
    }
}
