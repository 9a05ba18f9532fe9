import InspectorCore
import InspectorScreen

extension CommandTable {
    /// The commands that the configuration applies to.
    private static let settable = runs.union(["config"])
    /// The commands that judge sockets.
    private static let judging = runs.union(["why", "mcp"])

    /// The options of the screen and of the whole program.
    static let screenOptions: [Option] = [
        Option(name: "--no-history", commands: runs, help: "do not load or save the history of sent lines") {
            (_, request) throws(UsageError) in request.invocation.keepsHistory = false
        },
        Option(
            name: "--keep", value: .text("SIZE"), commands: settable,
            help: "keep SIZE of traffic per connection; 4M by default"
        ) {
            (text, request) throws(UsageError) in
            request.invocation.keep = try size(text, "--keep")
        },
        Option(
            name: "--keep-total", value: .text("SIZE"), commands: settable, help: "keep SIZE in total; 64M by default"
        ) {
            (text, request) throws(UsageError) in
            request.invocation.keepTotal = try size(text, "--keep-total")
        },
        Option(
            name: "-A", value: .text("WARNING"), commands: judging,
            help: "hide this warning, as in -A idle; all: hide all"
        ) {
            (name, request) throws(UsageError) in
            guard request.invocation.lints.allow(name) else { throw UsageError("-A", Lint.whyUnknown(name)) }
        },
        Option(
            name: "-W", value: .text("WARNING"), commands: judging,
            help: "show this warning; idle=5m: after 5m; all: show all"
        ) {
            (name, request) throws(UsageError) in
            do throws(LintSettings.Problem) {
                try request.invocation.lints.warn(reading: name)
            } catch {
                throw UsageError("-W", error.message)
            }
        },
        Option(name: "--ascii", commands: settable, help: "draw with ASCII only") {
            (_, request) throws(UsageError) in request.invocation.isASCII = true
        },
        Option(
            name: "--color", value: .text("DEPTH"), commands: settable,
            help: "colors: auto, 256, 16, 8 or none; wins over NO_COLOR"
        ) {
            (text, request) throws(UsageError) in
            guard let depth = Configuration.Depth(rawValue: text) else {
                throw UsageError("--color", "\(text) is not a color depth; write auto, 256, 16, 8 or none")
            }
            request.invocation.depth = depth
        },
        Option(
            name: "--config", value: .reads("FILE"), commands: settable,
            help: "configuration file; without a screen, the only one read"
        ) {
            (path, request) throws(UsageError) in request.invocation.configuration = path
        },
        Option(
            name: "--log", value: .writes("FILE"), commands: settable, help: "append socktui's own log to this file"
        ) {
            (path, request) throws(UsageError) in request.invocation.log = path
        },
        Option(name: "--secure", help: "touch no files, start no editor; always on under sudo") {
            (_, request) throws(UsageError) in request.invocation.isSecure = true
        },
        Option(name: "--help", help: "show help; after a command, for that command") {
            (_, request) throws(UsageError) in request.invocation.mode = .help(nil)
        },
        Option(name: "--version", help: "show the version") {
            (_, request) throws(UsageError) in request.invocation.mode = .version
        },
        Option(name: "--trap-after-start", value: .text("WHERE"), commands: runs) {
            (text, request) throws(UsageError) in
            guard let trap = Invocation.Trap(rawValue: text) else {
                throw UsageError("--trap-after-start", "\(text) is not a place; write main or thread")
            }
            request.invocation.trap = trap
        },
    ]
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
