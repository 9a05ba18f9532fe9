import InspectorCore
import SocketCore

extension CommandTable {
    private static let openers: Set<String> = ["connect", "listen"]

    /// The options of runs without a screen.
    static let reportOptions: [Option] = [
        Option(
            name: "--json", commands: runs.union(["why", "replay", "sweep", "config"]),
            help: "print JSON Lines; needs no terminal"
        ) {
            (_, request) throws(UsageError) in request.isJSON = true
        },
        Option(
            name: "--payload", value: .text("SIZE"), commands: runs,
            help: "json: also the first SIZE bytes of each operation"
        ) {
            (text, request) throws(UsageError) in
            guard let size = SizeText.parse(text), (1...mostPayload).contains(size) else {
                throw UsageError("--payload", "\(text) is not a size up to 1M; write 100 or 4K")
            }
            request.invocation.report.payload = size
        },
        Option(name: "--exchanges", commands: runs, help: "json: also each request and its answer time") {
            (_, request) throws(UsageError) in request.invocation.report.exchanges = true
        },
        Option(name: "--every", value: .text("TIME"), commands: runs, help: "json: also rates, at most once per TIME") {
            (text, request) throws(UsageError) in
            request.invocation.report.every = try duration(text, "--every")
        },
        Option(name: "--once", commands: runs, help: "print one snapshot and exit") {
            (_, request) throws(UsageError) in request.isOnce = true
        },
        Option(
            name: "--expect", value: .text("WHAT"), commands: openers,
            help: "exit 0 on receiving TEXT, /RE/ or hex:0d0a"
        ) {
            (text, request) throws(UsageError) in
            switch Expectation.parse(text) {
            case .success(let expectation): request.invocation.report.expectations.append(expectation)
            case .failure(let failure):
                throw UsageError("--expect", "column \(failure.column) of \(text): \(failure.message)")
            }
        },
        Option(
            name: "--within", value: .text("TIME"), commands: openers,
            help: "timeout for the --expect options before it; 10s"
        ) {
            (text, request) throws(UsageError) in
            let limit = try duration(text, "--within")
            let fresh = request.limitedExpectations..<request.invocation.report.expectations.count
            guard !fresh.isEmpty else { throw UsageError("--within", "goes after the --expect that it limits") }
            for index in fresh { request.invocation.report.expectations[index].limit = limit }
            request.limitedExpectations = fresh.upperBound
        },
        Option(
            name: "--script", value: .reads("FILE", orInput: true), commands: runs,
            help: "run the steps in FILE, or stdin (-); needs no terminal"
        ) {
            (path, request) throws(UsageError) in request.script = path
        },
        Option(
            name: "--size", value: .text("WxH"), commands: runs, help: "the screen's size in a script; 80x24 by default"
        ) {
            (text, request) throws(UsageError) in
            guard let size = Size(text) else {
                throw UsageError("--size", "\(text) is not a size; write columns x rows, as in 80x24")
            }
            request.invocation.size = size
        },
    ]

    private static let mostPayload = 1 << 20

    /// Parses a duration as in scripts: `5`, `5s` or `500ms`.
    static func duration(_ text: String, _ option: String) throws(UsageError) -> Duration {
        guard case .some(.some(let duration)) = DurationText.parse(text), duration > .zero else {
            throw UsageError(option, "\(text) is not a duration; write 5, 5s or 500ms")
        }
        return duration
    }
}

extension CommandTable.Request {
    /// The operand `-`, which connects standard input and output to the peer.
    static let pipe = "-"

    /// Rejects two uses of standard input, or of standard output.
    func checkStreams() throws(UsageError) {
        let readers =
            invocation.opening.filter { $0 == .openFile(Self.pipe) }.map { _ in "open -" }
            + (carriesBytes ? [Self.pipe] : []) + (script == "-" ? ["--script -"] : [])
        if readers.count > 1 {
            throw UsageError(readers[0], "reads standard input, as \(readers[1]) does; leave one of them out")
        }
        let writers = [
            (carriesBytes, "-"), (isJSON, "--json"), (isOnce, "--once"), (script != nil, "--script"),
        ].filter(\.0).map(\.1)
        // A single snapshot as JSON is one text.
        guard writers.count > 1, writers != ["--json", "--once"] else { return }
        throw UsageError(
            writers[0], "writes standard output, as \(writers[1]) does; leave one of them out")
    }

    /// Rejects options that have no meaning in this run.
    func checkReport() throws(UsageError) {
        let report = invocation.report
        if isJSON || isOnce { try checkPeeks(with: isJSON ? "--json" : "--once") }
        if !isJSON, script == nil, report.payload != nil {
            throw UsageError("--payload", "needs --json, or unread bytes in a --script")
        }
        if run.showsCalls, run.via != .connect {
            throw UsageError("--calls", "cannot be used with --proxy, where no connect is taken")
        }
        if run.showsCalls, isOnce {
            throw UsageError("--calls", "cannot be used with --once; --json runs until CMD ends")
        }
        if !isJSON, report.exchanges { throw UsageError("--exchanges", "needs --json") }
        for option in [report.payload.map { _ in "--payload" }, report.exchanges ? "--exchanges" : nil] {
            guard let option, invocation.opening.contains(where: \.isAttach) else { continue }
            throw UsageError(option, "cannot be used with attach, which shows the bytes of one socket at a time")
        }
        if !isJSON, report.every != nil { throw UsageError("--every", "needs --json") }
        guard !report.expectations.isEmpty else { return }
        for (isThere, option, why) in [
            (isOnce, "--once", "which ends at once"), (script != nil, "--script", "where wait does it"),
            (!standingRead, "--no-read", "which receives nothing"),
        ] where isThere {
            throw UsageError("--expect", "cannot be used with \(option), \(why)")
        }
    }
}

extension Effect {
    fileprivate var isAttach: Bool { if case .attach = self { true } else { false } }
}
