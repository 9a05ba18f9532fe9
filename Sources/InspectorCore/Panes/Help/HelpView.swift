import SocketCore

/// All keys and commands, made from the tables that they are looked up in: those of the place it was opened in first.
package enum HelpView {
    private static func box(_ size: Size) -> Rect {
        Rect(size).trimmed(top: 1, bottom: 2).centered(width: min(78, size.width - 2), height: size.height)
    }

    /// Rows of help in sight.
    package static func rows(_ size: Size) -> Int { max(1, box(size).height - 2) }

    package static func draw(_ model: Model, _ help: Model.HelpState, on canvas: inout Canvas) {
        let rect = box(canvas.size)
        let lines = lines(model, help)
        let rows = rows(canvas.size)
        let below = max(0, lines.count - help.top - rows)
        let more = below > 0 ? "   \(below) more below" : ""
        let scrolls = below > 0 || help.top > 0 ? model.naming("   {up} {down} scroll", in: .help) + more : ""
        let hint = model.naming("{filter} filter   {cancel} close", in: .help)
        let chip = help.filter.isEmpty ? "" : ", with \(model.sanitizer.text(help.filter))"
        canvas.box(
            rect, title: "help: \(help.context.title)\(chip)", hint: hint + scrolls, model.glyphs)
        let inner = Rect(x: rect.x + 2, y: rect.y + 1, width: rect.width - 3, height: rect.height - 2)
        for (index, line) in lines.dropFirst(help.top).prefix(rows).enumerated() {
            canvas.draw(line, row: index, in: inner, model.glyphs)
        }
        if model.field == nil { canvas.cursor = nil }
    }

    /// The sections in order; of each what the filter lets through, and none that it leaves empty.
    package static func lines(_ model: Model, _ help: Model.HelpState) -> [Line] {
        let width = box(model.size).width - 3
        let keys = model.options.keys
        var sections = [("", section(help.context, keys, width: width))]
        if help.context.isText {
            sections.append(("editing a line", section(help.context, keys, width: width, edits: true)))
        }
        for other in [KeyContext.list, .talk, .composer, .detail, .events] where other != help.context {
            sections.append((other.title, section(other, keys, width: width)))
        }
        sections.append(("commands: behind :, in scripts, bound to keys", commands))
        sections.append(("marks", legend(model)))
        let wanted = help.filter.lowercased()
        var lines: [Line] = []
        for (title, all) in sections {
            let rows = wanted.isEmpty ? all : all.filter { $0.text.lowercased().contains(wanted) }
            guard !rows.isEmpty else { continue }
            if !lines.isEmpty { lines.append(Line()) }
            if !title.isEmpty { lines.append(Line(title, Style(.heading, [.bold]))) }
            lines += rows
        }
        return lines.isEmpty ? [Line("no matches", Style(.dim))] : lines
    }

    /// Columns of a key and what it does; the command's name stands behind where there is room for it.
    private static let keyAndHelp = 58

    private static func section(
        _ context: KeyContext, _ keys: KeyTable, width: Int, edits: Bool = false
    ) -> [Line] {
        keys.bindings(in: context).filter { Action.edits.contains($0.line) == edits }.map { binding in
            var line = Line(Format.padded(binding.keys.map(\.label).joined(separator: " "), to: 16) + " ", Style(.key))
            line.append(binding.help)
            guard width >= keyAndHelp + 16, let action = binding.action else { return line }
            line.pad(to: keyAndHelp)
            line.append(action.name, Style(.dim))
            return line
        }
    }

    private static var commands: [Line] {
        [Line("a name from the right column above does what its key does; with arguments:")]
            + Action.commands.map { action in
                var line = Line(action.name, Style(.key))
                line.append(action.usage.dropFirst(action.name.count))
                return line
            }
            + [Line("TLS, behind tls:// addresses: \(TLSChoices.usage)")]
    }

    private static func legend(_ model: Model) -> [Line] {
        [
            Line("> client  < accepted  = listener  x closed  ASK waits for an answer (\(model.answerKey))"),
            Line("READING 1024/4096: so far of all; 312 to CRLF: so far, the end unknown"),
            Line("WRITING 25% +2 1.4M: done, writes behind it, bytes not yet with the kernel"),
            Line(model.naming("unread 23 B: bytes in the kernel that no read takes; {read} queues a read")),
            Line("\(model.glyphs.sigma)8.1K: all bytes of a closed connection.  Times are UTC."),
            Line("* marked  !2 two warnings"),
            Line("filter", Style(.heading, [.bold])),
        ] + filter.map { Line($0) } + [Line("warnings", Style(.heading, [.bold]))]
            + Lint.all.map { Line(Format.padded($0.name, to: 20) + $0.meaning) }
    }

    /// What a filter can say, line by line.
    package static let filter = [
        "words are AND, | is OR, ! is NOT, ( ) group; /text/i: a regular expression",
        "id:7 state:estab peer:10.0.0.0/8 port:443 role:client tag:42 read:delimiter",
        "flag:connected lint:any lint:read-starved rq>0 wq>=64K rx>1M idle>9s age>1h",
        "tls:yes tls:no tls:handshaking tls:1.3 (or queued, asking, secure, failed)",
        "ws:yes ws:no ws:open ws:compressed ws:1006 (the code of a Close)",
        "ws:opening ws:closing ws:closed ws:refused",
    ]
}
