import Glibc
import InspectorCore
import InspectorShell
import SocketExport
import SocketKit
import SocketRecords
import SocketWorkshop

/// An export, from the file to the exit status.
struct ExportRun {
    private let request: ExportRequest

    /// Exports as requested. Returns 0, 1 if that failed or bytes are missing, or 2 if the request doesn't fit the
    /// file.
    static func run(_ request: ExportRequest) -> Int32 {
        if request.output == nil, request.form?.isBinary == true, StandardStream.output.isTerminal {
            return Program.complain(
                "--as: standard output is a terminal; write -o FILE, or redirect it", status: .usage)
        }
        do throws(Refusal) {
            return try ExportRun(request: request).run()
        } catch {
            return Program.complain(error)
        }
    }

    private var file: CaptureFile { CaptureFile(path: request.file, filter: request.filter) }

    private func run() throws(Refusal) -> Int32 {
        let (rows, start, problem) = try file.rows(needsAll: !isWhole)
        let status = try write(rows, start)
        return problem == nil ? status : 1
    }

    private func write(_ rows: [ExportRow], _ start: Int64?) throws(Refusal) -> Int32 {
        guard request.form?.isOfOneSession == true else { return try writePackets(of: rows, start) }
        let row = try file.one(of: rows)
        if let obstacle = row.obstacle {
            throw Refusal(sentence: "\(request.file): \(row.id): \(obstacle); --as pcapng exports all of it")
        }
        return try writeConversation(of: row, start)
    }

    /// Whether everything is exported.
    private var isWhole: Bool {
        request.form == .pcapng && request.filter.isEmpty && request.from == .zero && request.to == nil
    }

    private var span: ClosedRange<Duration> { request.from...(request.to ?? .seconds(Int64.max / 2)) }

    // MARK: Forms

    private func writePackets(of rows: [ExportRow], _ start: Int64?) throws(Refusal) -> Int32 {
        var export = CaptureExport(
            PacketSelection(flows: Set(rows.flatMap(\.flows)), span: span, start: start), isWhole: isWhole)
        var output = try Output(request)
        defer { output.close() }
        var problem: Refusal?
        try file.read { bytes throws(CaptureError) in
            guard problem == nil else { return }
            try export.absorb(bytes)
            do throws(Refusal) { try output.write(export.take()) } catch { problem = error }
        }
        if let problem { throw problem }
        return 0
    }

    private func writeConversation(of row: ExportRow, _ start: Int64?) throws(Refusal) -> Int32 {
        let conversation = try file.conversation(
            of: row, PacketSelection(flows: [row.flow], span: span, start: start),
            whenCut: "select a part with --from and --to")
        // The other side may be missing: a script waits only for what the file has of it.
        let side = request.form == .raw ? request.side ?? .client : .client
        let missing = conversation.missing(of: side)
        let sentence = "\(row.id): \(missing) of the \(side.rawValue)'s bytes are not in the file"
        if missing > 0, request.form != .raw { throw Refusal(sentence: sentence) }
        let bytes: [UInt8]
        do throws(ExportProblem) {
            bytes = try form(conversation, row)
        } catch {
            throw Refusal(sentence: "\(row.id): \(error.sentence)")
        }
        var output = try Output(request)
        defer { output.close() }
        try output.write(bytes)
        guard missing > 0 else { return 0 }
        throw Refusal(sentence: sentence + "; the rest is written")
    }

    private func form(_ conversation: ExportedConversation, _ row: ExportRow) throws(ExportProblem) -> [UInt8] {
        switch request.form {
        case .script: return Array(try ScriptExport.text(direct(conversation, row), row).utf8)
        case .curl: return Array(try CurlExport.text(direct(conversation, row).bytes(of: .client), row).utf8)
        case .raw, .pcapng, nil: return conversation.bytes(of: request.side ?? .client)
        }
    }

    /// Returns what is for the server, which must not get what the client told the proxy.
    private func direct(
        _ conversation: ExportedConversation, _ row: ExportRow
    ) throws(ExportProblem) -> ExportedConversation {
        guard let proxy = row.proxy else { return conversation }
        guard let direct = conversation.beyond(proxy) else {
            throw ExportProblem(
                "it does not begin with a complete proxy handshake, so the server's bytes cannot be told apart")
        }
        return direct
    }

    // MARK: Files

    /// The destination of the export.
    private struct Output {
        private var file: RecordingFile?

        init(_ request: ExportRequest) throws(Refusal) {
            guard let path = request.output else { return }
            guard !Self.isSame(path, request.file) else {
                throw Refusal(sentence: "-o: \(path) is the file being exported", status: .usage)
            }
            do throws(SocketError) {
                file = try RecordingFile(path, limit: nil, replaces: request.replaces)
            } catch {
                throw Refusal(sentence: "-o: \(error.detail)")
            }
        }

        private static func isSame(_ first: String, _ second: String) -> Bool {
            var (one, other) = (stat(), stat())
            guard first.withNative({ stat($0, &one) }) == 0, second.withNative({ stat($0, &other) }) == 0 else {
                return false
            }
            return one.st_dev == other.st_dev && one.st_ino == other.st_ino
        }

        mutating func write(_ bytes: [UInt8]) throws(Refusal) {
            if file == nil {
                guard case .failed(let number) = StandardStream.output.write(bytes: bytes) else { return }
                throw Refusal(sentence: "standard output: \(SocketError.words(number))")
            }
            do throws(SocketError) { try file?.write(bytes) { false } } catch {
                throw Refusal(sentence: "-o: \(error.detail)")
            }
        }

        func close() { file?.close() }
    }
}
