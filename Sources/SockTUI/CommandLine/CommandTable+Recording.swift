import InspectorCore
import InspectorScreen
import SocketKit

extension CommandTable {
    static let openCommand = Command(
        name: "open", operands: .reads("FILE...", orInput: true),
        help: "browse a recording, pcapng or pcap; -: stdin", example: "session.pcapng"
    ) { (words, _) throws(EndpointError) in .openFile(words[0]) }

    /// The options that control `--record`.
    static let namesOfRecording: Set = ["--record-limit", "--snaplen", "--force"]

    static let recordingOptions: [Option] = [
        Option(
            name: "--at", value: .text("TIME"), commands: ["open"], help: "show the state at TIME: 12.5 or 1:30"
        ) {
            (text, request) throws(UsageError) in
            guard let instant = InstantText.parse(text) else {
                throw UsageError("--at", "\(text) is not a time; write seconds from the beginning, 1:30 or 1:02:03.5")
            }
            request.invocation.report.instant = instant
        },
        Option(
            name: "--rewind", value: .text("TIME"), commands: runs.union(["config"]),
            help: "keep the last TIME of a run for rewinding: 60s"
        ) {
            (text, request) throws(UsageError) in
            request.invocation.rewind = HistoryText.parse(text)
            if request.invocation.rewind == nil { throw UsageError("--rewind", "\(text) \(HistoryText.problem)") }
        },
        Option(
            name: "--record", value: .writes("FILE", orOutput: true), commands: runs,
            help: "record everything as pcapng; -: to stdout"
        ) {
            (path, request) throws(UsageError) in
            guard !path.isEmpty else { throw UsageError("--record", "needs a file, or - for standard output") }
            request.invocation.recording.path = path
        },
        Option(
            name: "--record-limit", value: .text("SIZE"), commands: runs, help: "keep the last SIZE, in FILE and FILE.1"
        ) {
            (text, request) throws(UsageError) in
            let limit = try size(text, "--record-limit")
            guard limit >= 1 << 16 else {
                throw UsageError("--record-limit", "\(text) is too small; write 64K or more")
            }
            request.invocation.recording.options.limit = limit
        },
        Option(
            name: "--snaplen", value: .text("SIZE"), commands: runs,
            help: "record SIZE of each packet's payload; 0: none"
        ) {
            (text, request) throws(UsageError) in
            request.invocation.recording.options.snapLength = try size(text, "--snaplen")
        },
        Option(name: "--force", commands: runs.union(["export"]), help: "overwrite an existing --record or -o file") {
            (_, request) throws(UsageError) in request.invocation.recording.options.replaces = true
        },
    ]
}
