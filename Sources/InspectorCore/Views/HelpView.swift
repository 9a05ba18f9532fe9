import SocketCore

/// All keys, made from the one table of keys: those of the place it was opened in first.
package enum HelpView {
    private static func box(_ size: Size) -> Rect {
        Rect(size).trimmed(top: 1, bottom: 1).centered(width: min(78, size.width - 2), height: size.height)
    }

    /// Rows of help in sight.
    package static func rows(_ size: Size) -> Int { max(1, box(size).height - 2) }

    package static func draw(_ model: Model, _ help: Model.HelpState, on canvas: inout Canvas) {
        let rect = box(canvas.size)
        let lines = lines(help.context, model.glyphs, width: rect.width - 3)
        let rows = rows(canvas.size)
        let below = max(0, lines.count - help.top - rows)
        let hint = below > 0 || help.top > 0 ? "Esc close   Up Down scroll   \(below) more below" : "Esc close"
        canvas.box(rect, title: "help: \(help.context.title)", hint: hint, model.glyphs)
        let inner = Rect(x: rect.x + 2, y: rect.y + 1, width: rect.width - 3, height: rect.height - 2)
        for (index, line) in lines.dropFirst(help.top).prefix(rows).enumerated() {
            canvas.draw(line, row: index, in: inner, model.glyphs)
        }
        canvas.cursor = nil
    }

    /// The sections in order.
    package static func lines(_ context: KeyContext, _ glyphs: Glyphs, width: Int = 80) -> [Line] {
        var lines = section(context, width: width)
        if context.isText { lines += [Line()] + editing }
        for other in [KeyContext.list, .talk, .composer, .detail, .events] where other != context {
            lines += [Line(), Line(other.title, Style(.heading, [.bold]))] + section(other, width: width)
        }
        return lines + [Line()] + legend(glyphs)
    }

    /// Columns of a key and what it does; the command's name stands behind where there is room for it.
    private static let keyAndHelp = 58

    private static func section(_ context: KeyContext, width: Int) -> [Line] {
        Keymap.bindings(in: context).map { binding in
            var line = Line(Format.padded(binding.keys.map(\.label).joined(separator: " "), to: 16) + " ", Style(.key))
            line.append(binding.help)
            guard width >= keyAndHelp + 16 else { return line }
            line.pad(to: keyAndHelp)
            line.append(binding.command.rawValue, Style(.dim))
            return line
        }
    }

    private static let editing: [Line] = [
        Line("editing a line", Style(.heading, [.bold])),
        Line("^A ^E            to its beginning, its end"),
        Line("Alt-b Alt-f      a word back, a word on"),
        Line("^K ^U ^W         cut to the end, to the beginning, the word before"),
        Line("^Y               put back what was cut"),
    ]

    private static func legend(_ glyphs: Glyphs) -> [Line] {
        [
            Line("marks", Style(.heading, [.bold])),
            Line("> client  < accepted  = listener  x closed  ASK waits for an answer (A)"),
            Line("READING 1024/4096: so far of all; 312 to CRLF: so far, the end unknown"),
            Line("WRITING 25% +2 1.4M: done, writes behind it, bytes not yet with the kernel"),
            Line("unread 23 B: bytes in the kernel that no read takes; r queues a read"),
            Line("\(glyphs.sigma)8.1K: all bytes of a closed connection.  Times are UTC."),
            Line("* marked  !2 two warnings"),
            Line("filter", Style(.heading, [.bold])),
            Line("words are AND, | is OR, ! is NOT, ( ) group; /text/i is a regular expression"),
            Line("id:7 state:estab peer:192.0.2.0/24 port:443 role:client tag:42 read:delimiter"),
            Line("flag:connected lint:any lint:read-starved rq>0 wq>=64K rx>1M idle>30s age>1h"),
            Line("warnings", Style(.heading, [.bold])),
        ] + Lint.all.map { Line(Format.padded($0.name, to: 20) + $0.meaning) }
    }
}
