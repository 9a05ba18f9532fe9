import SocketCore

/// The row under the line that is written: what it comes to, or what is wrong with it and where.
struct ComposerInfo {
    let model: Model
    let width: Int

    init(_ model: Model, width: Int) {
        self.model = model
        self.width = width
    }

    var line: Line {
        let composer = model.composer
        if let id = model.list.selected, let running = model.transmissions[id] {
            var line = Line("   ")
            model.sanitizer.append(running.words, Style(.sent), to: &line)
            line.append("   Alt-r stops it", Style(.dim))
            return line
        }
        guard !composer.editor.isEmpty else { return Line() }
        if composer.mode == .file { return file(composer) }
        switch composer.message {
        case .failure(let failure):
            return Line("   column \(failure.column): \(failure.message)", Style(.error))
        case .success(let message): return size(message, composer)
        }
    }

    /// `= 40 bytes + CRLF  47 45 54 20`
    private func size(_ message: [MessagePiece], _ composer: Composer) -> Line {
        let preview = MessageText.preview(message, sequence: composer.sequence)
        let ending = composer.endingInForce
        var text = "   = \(Format.count(preview.bytes.count - ending.bytes.count, "byte"))"
        if preview.files > 0 { text += " + \(Format.count(preview.files, "file"))" }
        if composer.sendsMessages, composer.mode == .escapes,
            composer.messageType(of: preview.bytes.compactMap { $0 }) == .binary
        {
            text += ", no UTF-8: sent as binary"
        }
        if ending != .none { text += " + \(ending.rawValue)" }
        var line = Line(text, Style(.dim))
        let room = width - line.width - 5
        guard room >= 12 else { return line }
        line.append("  ")
        let fits = room / 3
        for byte in preview.bytes.prefix(fits) { line.append(" " + (byte.map(Self.hex) ?? "??"), Style(.dim)) }
        if preview.bytes.count > fits { line.append(" " + String(model.glyphs.ellipsis), Style(.dim)) }
        return line
    }

    static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }

    private func file(_ composer: Composer) -> Line {
        guard let facts = model.fileFacts, facts.path == composer.editor.text else { return Line() }
        guard let size = facts.size else {
            var line = Line("   ")
            model.sanitizer.append(facts.problem, Style(.error), to: &line)
            return line
        }
        let bytes = size < 1024 ? "" : ", \(Format.bytes(size))"
        return Line("   = \(Format.count(size, "byte"))\(bytes), sent in pieces as the peer takes them", Style(.dim))
    }
}
