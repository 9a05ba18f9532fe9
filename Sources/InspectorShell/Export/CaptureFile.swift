import Glibc
import InspectorCore
import SocketExport
import SocketKit
import SocketRecords
import SocketWorkshop

/// The reason why a command with a file can't be carried out, and its exit status.
package struct Refusal: Error {
    package var sentence: String
    /// What the user can choose from, a line each.
    package var choices: [String]
    package var status: ExitStatus

    package init(sentence: String, choices: [String] = [], status: ExitStatus = .failure) {
        (self.sentence, self.choices, self.status) = (sentence, choices, status)
    }
}

/// A recording or capture with a selection of its sessions.
package struct CaptureFile {
    package var path: String
    package var filter: Filter

    package init(path: String, filter: Filter) {
        self.path = path
        self.filter = filter
    }

    private static let chunk = 1 << 20

    /// Returns the sessions that match the filter, at least one, the start time of the file and the problem at its end,
    /// which is reported on standard error.
    /// Without `needsAll`, sessions beyond the limit are no problem, because nothing is chosen.
    package func rows(
        needsAll: Bool = true
    ) throws(Refusal) -> (rows: [ExportRow], start: Int64?, problem: String?) {
        var index = ExportIndex()
        try read { bytes throws(CaptureError) in try index.absorb(bytes) }
        let rows = chosen(index)
        guard !rows.isEmpty else {
            let end = index.problemAtEnd.map { "; " + $0 } ?? ""
            throw Refusal(
                sentence: "\(path): no session" + (filter.isEmpty ? "" : " matches the filter") + end,
                status: index.problemAtEnd == nil ? .nothing : .failure)
        }
        let problems = [index.problemAtEnd, needsAll ? index.shortcoming : nil].compactMap { $0 }
        let problem = problems.isEmpty ? nil : "\(path): \(problems.joined(separator: "; "))"
        if let problem { StandardStream.error.writeLine("socktui: \(problem)") }
        for words in index.unreadLinks { StandardStream.error.writeLine("socktui: \(path): \(words)") }
        return (rows, index.start, problem)
    }

    /// Returns the only one of these rows. If there are several, the error lists them for the user to choose from.
    package func one(of rows: [ExportRow]) throws(Refusal) -> ExportRow {
        guard rows.count == 1, let row = rows.first else {
            let more = rows.count > 50 ? ["and \(rows.count - 50) more"] : []
            let example = rows.first.map { "; name it, as in id:\($0.id.description.dropFirst())" } ?? ""
            throw Refusal(
                sentence: "\(path): \(rows.count) sessions match, but only one can be used" + example,
                choices: rows.prefix(50).map(\.words) + more, status: .usage)
        }
        return row
    }

    /// Returns the conversation of a session. `whenCut` is the advice for one that is too long.
    package func conversation(
        of row: ExportRow, _ selection: PacketSelection, whenCut: String
    ) throws(Refusal) -> ExportedConversation {
        var reader = ExportedConversation.Reader(selection)
        try read { bytes throws(CaptureError) in try reader.absorb(bytes) }
        let conversation = reader.finish(row)
        guard !conversation.isCut else {
            throw Refusal(sentence: "\(row.id): more than \(ExportedConversation.limit >> 20) MiB; \(whenCut)")
        }
        return conversation
    }

    private func chosen(_ index: ExportIndex) -> [ExportRow] {
        let (now, findings) = (index.end, Findings(LintSettings()))
        return index.rows { !filter.matching([$0], now, findings).isEmpty }
    }

    /// Reads the whole file.
    package func read(_ take: (ArraySlice<UInt8>) throws(CaptureError) -> Void) throws(Refusal) {
        let descriptor = path.withNative { open($0, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
        guard descriptor >= 0 else { throw Refusal(sentence: "\(path): \(SocketError.words(errno))") }
        defer { Glibc.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Refusal(sentence: "\(path): is not a regular file; name a recording or a capture")
        }
        var buffer = [UInt8](repeating: 0, count: Self.chunk)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Refusal(sentence: "\(path): \(SocketError.words(errno))") }
            if count == 0 { return }
            do throws(CaptureError) { try take(buffer[..<count]) } catch {
                throw Refusal(sentence: "\(path): \(error.sentence)")
            }
        }
    }
}
