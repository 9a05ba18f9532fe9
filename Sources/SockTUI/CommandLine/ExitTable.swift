import InspectorCore

/// What each exit status means, and what is on standard error then. The manual, docs/options.md and docs/xray.md print
/// these rows.
struct ExitRow: Sendable {
    /// The commands that it is about, or none for all.
    var commands: [String] = []
    var status: String
    var means: String
    var errors: String

    init(_ commands: [String], _ status: ExitStatus, _ means: String, _ errors: String) {
        self.init(commands, "\(status.rawValue)", means, errors)
    }

    init(_ commands: [String], _ status: String, _ means: String, _ errors: String) {
        (self.commands, self.status, self.means, self.errors) = (commands, status, means, errors)
    }

    /// `every command`, or the commands.
    var who: String { commands.isEmpty ? "every command" : commands.joined(separator: ", ") }

    private static let looking = ["why", "host --check"]
    private static let files = ["export", "replay", "sweep"]

    static let all: [ExitRow] = [
        ExitRow([], .success, "success; also if the reader closes the output early", "nothing, or a note"),
        ExitRow(
            [], .failure,
            "it failed, or output is incomplete: standard output, the recording (--record) or the event stream could not "
                + "be written completely, or a step of --script failed", "each reason, on a line of its own"),
        ExitRow(
            [], .usage, "usage error: an argument, the configuration, or a script; nothing was opened", "the mistake"),
        ExitRow(
            [], "128 + N",
            "killed by signal N, as a shell reports it. TERM, INT and HUP end a run once its last lines and its recording "
                + "are written, within a second; a second signal ends it at once, as QUIT does. replay, sweep, why and host "
                + "--check then write nothing",
            "what is missing, if anything"),
        ExitRow(
            ["connect", "listen", "relay"], .failure,
            "a connection failed (refused, reset, timed out, TLS, WebSocket), a listener could not be opened, a TLS file cannot "
                + "be used, standard input was not sent completely, or --expect was not met. Bytes that a relayed "
                + "connection loses to a reset are counted, but are not a failure", "the connection and its error"),
        ExitRow(
            ["attach"], .failure, "could not attach to a program, or it has no visible sockets", "the program and why"
        ),
        ExitRow(
            ["attach", "ctl"], .nothing,
            "no such program is inspectable; without an operand: no program is", "how to make one"),
        ExitRow(
            ["run"], "CMD's",
            "the exit status of CMD, also after the first TERM, INT or HUP, which is passed on to CMD",
            "CMD's output; a line if no connection was seen"),
        ExitRow(
            ["run"], "128 + N",
            "signal N killed CMD, or a second signal ended the run; with a screen or a script, TERM and HUP end both",
            "the same"),
        ExitRow(["run"], "126, 127", "CMD cannot be started; there is no such command", "why"),
        ExitRow(
            ["open"], .failure, "a file cannot be opened, is damaged or is cut off; what can be read is shown",
            "the file, and where its readable part ends"),
        ExitRow(
            ["capture"], .failure, "the capture could not start, or packets were lost", "the reason; how many were lost"
        ),
        ExitRow(looking, .success, "nothing worse than a note was found, or nothing at --level or above", "nothing"),
        ExitRow(
            looking, .failure, "something is wrong, or a request has waited longer than --longer-than",
            "nothing; it is on standard output"),
        ExitRow(looking, .hidden, "the host could not be examined, or --strict and something was hidden", "why"),
        ExitRow(looking + ["host --once"], .nothing, "no program or socket matches", "what is missing"),
        ExitRow(
            ["host --metrics"], .failure, "cannot listen on the address, or the metrics server stopped", "the reason"),
        ExitRow(["host --metrics"], .hidden, "the host could not be examined", "why"),
        ExitRow(
            files, .failure,
            "the file cannot be read completely, lacks bytes, or cannot be exported this way; for replay and sweep: an answer "
                + "differs, or the server cannot be reached", "the reason"),
        ExitRow(
            files, .usage, "the arguments do not fit the file: several sessions match, or no such exchange", "which"),
        ExitRow(files, .nothing, "the file has no session that matches", "the file"),
        ExitRow(["ctl"], .failure, "the command was refused, or the program does not answer", "why"),
    ]

    /// The rows about these commands, and those about all.
    static func rows(about commands: [String]) -> [ExitRow] {
        all.filter { row in row.commands.isEmpty || row.commands.contains { commands.contains($0) } }
    }
}
