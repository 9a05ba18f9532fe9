import InspectorCore
import InspectorScreen
import InspectorShell
import SocketCore
import SocketWorkshop

/// The commands and options: the single table from which the parser, the help, the manual and completions are made.
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

        var word: Word { Word(name: name, operands: operands, help: help) }
    }

    /// A word that begins with `--`.
    struct Option: Sendable {
        var name: String
        /// Its value, or `nil` if it takes none.
        var value: CommandLineValue?
        /// The commands it applies to. `""` stands for no command. If empty, it applies to all of them.
        var commands: Set<String> = []
        /// The help text, or `nil` to leave the option out of the help.
        var help: String?
        /// Applies the option to the request.
        var apply: @Sendable (_ value: String, _ request: inout Request) throws(UsageError) -> Void

        /// Whether every command that opens something has it.
        var isCommon: Bool { commands.isSuperset(of: CommandTable.runs) }

        func goes(with command: String) -> Bool { commands.isEmpty || commands.contains(command) }

        /// The commands that have it, in words. Empty if all have it.
        var scope: String {
            let more = isCommon ? commands.subtracting(CommandTable.runs) : commands
            return ((isCommon ? ["every command that opens something"] : []) + more.sorted()).joined(separator: ", ")
        }
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
        /// Whether `host` prints problems instead of showing a screen.
        var checksHost = false
        /// Whether `config` prints what this host allows.
        var tellsHost = false
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

    /// The commands that open something, and the start screen: what a run can do applies to all of them.
    static let runs: Set<String> = [
        "", "host", "attach", "capture", "connect", "listen", "relay", "run", "open", "demo",
    ]

    static let commands: [Command] = [
        Command(name: "demo", help: "run a demo with live sockets") { (_, _) throws(EndpointError) in
            .startDemo
        },
        Command(
            name: "connect", operands: .address("ADDRESS... [-]"), help: "talk to a server; -: use stdin and stdout"
        ) {
            (words, request) throws(EndpointError) in .connect(try request.open(words[0]))
        },
        Command(
            name: "listen", operands: .address("ADDRESS... [-]"), help: "listen, and answer clients yourself",
            example: ":8080"
        ) {
            (words, request) throws(EndpointError) in .listen(try request.open(words[0], listens: true))
        },
        Command(
            name: "relay", operands: .address("LISTEN TARGET..."),
            help: "forward to TARGET; watch and change the traffic",
            operandsEach: 2, example: ":9000 localhost:6379"
        ) {
            (words, request) throws(EndpointError) in
            var relay = try RelayRequest.parse(words[0], to: words[1], request.tls)
            relay.timeout = request.timeout
            return .relay(relay)
        },
        Command(
            name: "attach", operands: .inspected("[PID|NAME|PATH]..."),
            help: "a program's sockets; no PID: list inspectable ones",
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

        var word: Word { Word(name: name, operands: operands, help: help) }
    }

    static let printers: [Printer] =
        [captureCommand, exportCommand, controlCommand] + replayCommands + hostCommands + [
            Printer(name: "config", help: "print the configuration and its path") {
                (words, request) throws(UsageError) in
                if let extra = words.first { throw UsageError(extra, "config takes no operand; write --config FILE") }
                if request.tellsHost { return .hostNeeds(isJSON: request.isJSON) }
                if request.isJSON { throw UsageError("--json", "needs --host; the configuration is TOML") }
                return .configuration
            },
            Printer(name: "completions", operands: .text("SHELL"), help: "shell completions for bash, zsh or fish") {
                (words, _) throws(UsageError) in
                guard words.count == 1, let shell = Shell(rawValue: words[0]) else {
                    throw UsageError("completions", "needs a shell: bash, zsh or fish")
                }
                return .completions(shell)
            },
            Printer(name: "help", operands: .text("[TOPIC]"), help: "explain a command or a TOPIC") {
                (words, _) throws(UsageError) in
                guard words.count < 2 else { throw UsageError(words[1], "help takes one topic") }
                if let topic = words.first, HelpText.text(of: topic) == nil {
                    throw UsageError(topic, "no such topic" + HelpText.suggestion(for: topic))
                }
                return .help(words.first)
            },
        ]

    static let options: [Option] =
        openingOptions + captureOptions + runOptions + hostOptions + reportOptions + screenOptions + recordingOptions
        + exportOptions + replayOptions + tlsOptions + webSocketOptions + faultOptions

    private static let openingOptions: [Option] = [
        Option(
            name: "--no-read", commands: ["connect", "listen"], help: "do not read automatically, now or with c later"
        ) {
            (_, request) throws(UsageError) in request.standingRead = false
        },
        Option(
            name: "--timeout", value: .text("TIME"), commands: ["connect", "relay", "run"],
            help: "give up connecting after TIME"
        ) {
            (text, request) throws(UsageError) in
            request.timeout = try duration(text, "--timeout")
        },
        Option(name: "--half-open", commands: ["connect"], help: "stay open for writing after the peer's FIN") {
            (_, request) throws(UsageError) in request.allowsHalfOpen = true
        },
        proxy("--socks5", .socks5, help: "act as a SOCKS 5 proxy: clients name their targets"),
        proxy("--http-proxy", .http, help: "act as an HTTP proxy: clients name their targets"),
        Option(
            name: "--reply", value: .text("RULE"), commands: ["connect", "listen"],
            help: "auto-reply: 'when /^PING/ send +PONG\\r\\n'"
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
            help: "send this first; takes escapes: \\r\\n \\x00"
        ) {
            (text, request) throws(UsageError) in
            switch EscapedText.parse(text) {
            case .success(let bytes): request.greeting += bytes
            case .failure(let failure):
                throw UsageError("--send", "column \(failure.column) of \(text): \(failure.message)")
            }
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
}
