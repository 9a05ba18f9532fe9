import InspectorCore
import InspectorShell
import SocketCore
import SocketWorkshop

extension CommandTable {
    static let exportCommand = Printer(
        name: "export", operands: .reads("FILE [FILTER]"), help: "convert a file to curl, a script, raw or pcapng"
    ) { (words, request) throws(UsageError) in
        guard let file = words.first else {
            throw UsageError("export", "needs a file, as in socktui export session.pcapng --as pcapng")
        }
        request.export.file = file
        let text = words.dropFirst().joined(separator: " ")
        switch Filter.parse(text) {
        case .success(let filter): request.export.filter = filter
        case .failure(let failure): throw UsageError(text, failure.message)
        }
        try request.checkExport()
        request.export.replaces = request.invocation.recording.options.replaces
        return .export(request.export)
    }

    private static let only: Set<String> = ["export"]

    static let exportOptions: [Option] = [
        Option(name: "--as", value: .text("FORMAT"), commands: only, help: "pcapng, raw, script or curl") {
            (text, request) throws(UsageError) in
            guard let form = ExportRequest.Form(rawValue: text) else {
                let forms = Spelling.alternatives(ExportRequest.Form.allCases.map(\.rawValue))
                throw UsageError("--as", "\(text) is not a format; write \(forms)")
            }
            request.export.form = form
        },
        Option(name: "--side", value: .text("SIDE"), commands: only, help: "raw: what client or server sent") {
            (text, request) throws(UsageError) in
            guard let side = ExportedConversation.Side(rawValue: text) else {
                throw UsageError("--side", "\(text) is not a side; write client or server")
            }
            request.export.side = side
        },
        Option(
            name: "--from", value: .text("T"), commands: only, help: "start at T: seconds from the beginning, or 1:02.5"
        ) {
            (text, request) throws(UsageError) in request.export.from = try instant(text, "--from")
        },
        Option(name: "--to", value: .text("T"), commands: only, help: "end at T") {
            (text, request) throws(UsageError) in request.export.to = try instant(text, "--to")
        },
        Option(
            name: "-o", value: .writes("OUT", orOutput: true), commands: only, help: "write to this file, not stdout"
        ) {
            (path, request) throws(UsageError) in
            guard !path.isEmpty else { throw UsageError("-o", "needs a file") }
            request.export.output = path == "-" ? nil : path
        },
    ]

    private static func instant(_ text: String, _ option: String) throws(UsageError) -> Duration {
        guard let time = InstantText.parse(text) else {
            throw UsageError(option, "\(text) is not a time; write 12.5 or 1:02.5")
        }
        return .nanoseconds(time)
    }
}

extension CommandTable.Request {
    fileprivate func checkExport() throws(UsageError) {
        guard let form = export.form else {
            throw UsageError("export", "needs --as with pcapng, raw, script or curl after it")
        }
        if form == .raw, export.side == nil {
            throw UsageError("--as raw", "needs --side client or --side server")
        }
        if form != .raw, export.side != nil { throw UsageError("--side", "needs --as raw") }
        if let to = export.to, to < export.from { throw UsageError("--to", "is before --from") }
    }
}
