import InspectorCore
import SocketCore

/// The row below the composer's line: its encoding, or what is wrong with it and where.
struct ComposerInfo {
    let model: Model
    let width: Int

    init(_ model: Model, width: Int) {
        self.model = model
        self.width = width
    }

    var line: Line {
        let composer = model.composer
        if let search = composer.search { return self.search(search) }
        if model.whyNoSending != nil, model.isComposing {
            var line = Line("   ")
            line.append(ComposerView.problem(model, width: width - 4))
            return line
        }
        if let id = model.injection?.id ?? model.list.selected, let running = model.shared.transmissions[id] {
            var line = Line("   ")
            model.sanitizer.append(words(running), Style(.sent), to: &line)
            line.append(model.naming("   {pace} stops it"), Style(.dim))
            return line
        }
        guard !composer.editor.isEmpty else { return Line() }
        if composer.mode == .file { return file(composer) }
        if composer.mode == .text { return text(composer) }
        switch composer.summary {
        case nil: return Line()
        case .failure(let failure):
            return Line("   column \(failure.column): \(failure.message)", Style(.error))
        case .success(let summary): return size(summary, composer)
        }
    }

    /// `earlier line with "PI"   ^R an earlier one  Enter takes it  Esc the line before`
    private func search(_ search: HistorySearch) -> Line {
        var line = Line("   earlier line with \"", Style(.dim))
        model.sanitizer.append(search.text, to: &line)
        line.append("\"", Style(.dim))
        if search.hasFailed { line.append(" not found", Style(.error)) }
        let keys = "   {history-search} an earlier one  {send} uses it  {leave} restores"
        line.append(model.naming(keys, in: .composer), Style(.dim))
        return line
    }

    /// Returns `sending big.bin: 0 B of 191M, 0%, waits for t1`. Earlier writes are sent first.
    private func words(_ running: TransmissionProgress) -> String {
        guard let socket = model.selected, let current = socket.writing.current else { return running.words }
        if current.tag == running.transmission.tag {
            let still = (current.lastProgress ?? current.started).map { model.now - $0 } ?? .zero
            let rate = still >= .seconds(2) ? "stalled \(Format.duration(still))" : "\(Format.rate(socket.sendRate))/s"
            return "\(running.words(underWay: current.done)), \(rate)"
        }
        return running.done == 0 ? "\(running.words), waits for t\(current.tag)" : running.words
    }

    /// `= 40 bytes + CRLF  47 45 54 20`
    private func size(_ summary: LineSummary, _ composer: Composer) -> Line {
        var notes = summary.files > 0 ? " + \(Format.count(summary.files, "file"))" : ""
        if composer.mode == .escapes, !summary.isText { notes += ", not UTF-8: sent as binary" }
        return size(summary.count, notes, summary.beginning, composer)
    }

    /// Returns the size of a line that is sent as typed. Only its beginning is converted to bytes.
    private func text(_ composer: Composer) -> Line {
        let inner = max(1, composer.endingInForce.bytes.count)
        let characters = composer.editor.characters
        let count = characters.reduce(composer.endingInForce.bytes.count) {
            $0 + ($1 == "\n" ? inner : $1.utf8.count)
        }
        var beginning = composer
        beginning.editor = LineEditor(String(characters.prefix(width)))
        guard case .success(let message) = beginning.message else { return Line() }
        return size(count, "", MessageText.preview(message, sequence: composer.sequence).bytes, composer)
    }

    /// Returns the size of `count` bytes, of which `bytes` are the first.
    private func size(_ count: Int, _ notes: String, _ bytes: [UInt8?], _ composer: Composer) -> Line {
        let ending = composer.endingInForce
        var text = "   = \(Format.count(count - ending.bytes.count, "byte"))" + notes
        if ending != .none { text += " + \(ending.rawValue)" }
        var line = Line(text, Style(.dim))
        let room = width - line.width - 5
        guard room >= 12 else { return line }
        line.append("  ")
        let fits = room / 3
        for byte in bytes.prefix(fits) { line.append(" " + (byte.map(Self.hex) ?? "??"), Style(.dim)) }
        if count > fits { line.append(" " + String(model.glyphs.ellipsis), Style(.dim)) }
        return line
    }

    static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }

    private func file(_ composer: Composer) -> Line {
        guard let facts = model.composers.fileFacts, facts.path == composer.editor.text else { return Line() }
        guard let size = facts.size else {
            var line = Line("   ")
            model.sanitizer.append(facts.problem, Style(.error), to: &line)
            return line
        }
        let bytes = size < 1024 ? "" : ", \(Format.bytes(size))"
        return Line("   = \(Format.count(size, "byte"))\(bytes), sent in pieces as the peer accepts them", Style(.dim))
    }
}
