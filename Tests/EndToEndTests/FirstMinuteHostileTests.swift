import SocketTestSupport
import Testing

/// What a peer may try on the terminal of whoever looks at its bytes.
private enum Attack {
    static let all: [[UInt8]] = [
        text("\u{1B}[2J\u{1B}[H\u{1B}[31;5mall is mine\u{1B}[20;1H\u{1B}[K"),
        text("\u{1B}]0;hijacked\u{07}\u{1B}]2;hijacked\u{1B}\\"),
        text("\u{1B}]52;c;aGlqYWNrZWQ=\u{07}"),
        text("\u{1B}[?1049l\u{1B}[?25l\u{1B}[?1000h\u{1B}[4h\u{1B}[?7l\u{1B}[?6h\u{1B}="),
        text("\u{1B}Ptmux;\u{1B}\u{1B}]2;hijacked\u{07}\u{1B}\\\u{1B}k hijacked\u{1B}\\\u{1B}_hijacked\u{1B}\\"),
        text("\u{1B}c\u{1B}(0lqqqk\u{0E}\u{0F}\u{1B}#8"),
        // C1 bytes, raw and as UTF-8: CSI, OSC...ST, DCS.
        [0x9B] + text("2J") + [0x9D] + text("2;hijacked") + [0x9C, 0x90, 0x85, 0x84],
        text("\u{9B}2J\u{9D}2;hijacked\u{9C}\u{90}\u{85}"),
        text("\u{202E}desrever\u{202C} \u{2066}\u{2067}isolated\u{2069} \u{200F}\u{200E}\u{061C}\u{2028}\u{2029}"),
        [0xFF, 0xFE, 0xC0, 0xAF, 0xED, 0xA0, 0x80, 0xF4, 0x90, 0x80, 0x80, 0xE2, 0x82],
        [UInt8](repeating: 0, count: 300),
        text("\rover the beginning\u{08}\u{08}\u{08}\u{7F}\u{0B}\u{0C}\ttab\u{07}\u{05}"),
        text("e" + String(repeating: "\u{0301}", count: 400) + "👩‍👩‍👧‍👦🇦🇹\u{FE0F}\u{200B}\u{FEFF}\u{E0041}\u{AD}日本語ﷺ"),
        [UInt8](repeating: 0x41, count: 40_000),
        text(String(repeating: "\u{1B}[31m日", count: 4_000)),
    ]

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
}

@Suite(
    "A hostile peer", .enabled(if: Tmux.isUsable && Peer.isUsable("nc", "ss"), "tmux, nc or ss is missing"),
    .timeLimit(.minutes(10)))
struct FirstMinuteHostileTests {
    @Test("changes nothing but its own pane, however its bytes are shown", arguments: [0, 1, 2])
    func attacks(viewChanges: Int) throws {
        let (inspection, port) = try Peer.listening(width: 100, height: 30)
        // Without this tmux would not even listen to the clipboard's sequence.
        _ = try inspection.tmux.command("set", "-s", "set-clipboard", "on")
        let peer = try Peer(["nc", "127.0.0.1", "\(port)"])
        try inspection.write()
        try inspection.tmux.type("a draft")
        for _ in 0..<viewChanges { try inspection.tmux.keys("M-v") }
        var received = "harmless\n".utf8.count
        try peer.write("harmless\n")
        try inspection.wait(for: "harmless")
        try inspection.wait(for: "Hz")
        // Who the peer is is found out a little later.
        try inspection.wait(for: " in nc[")
        let before = try #require(try Frame(inspection), inspection.tmux.picture)
        for (number, attack) in Attack.all.enumerated() {
            try peer.write(attack)
            received += attack.count
            #expect(try eventually { try inspection.hasRead(received, from: port) })
            // By itself, so that it stands whole in one row whatever the view.
            let sign = "<\(number)>"
            try peer.write(sign + "\n")
            received += sign.utf8.count + 1
            try inspection.wait(for: sign)
            var after = before
            _ = try eventually {
                after = try Frame(inspection) ?? after
                return after == before
            }
            #expect(after == before, "attack \(number)\n\(inspection.tmux.picture)")
            try expectOnlyOurEscapes(inspection, "attack \(number)")
        }
        #expect(try inspection.tmux.command("list-buffers").isEmpty)
        try inspection.tmux.keys("C-u")
        try inspection.send("still here")
        #expect(eventually { peer.output == Array("still here\r\n".utf8) })
    }

    /// What is around the pane, and what the terminal itself has been told.
    private struct Frame: Equatable {
        var above: [String]
        var below: [String]
        var terminal: String

        /// nil while it is not whole.
        init?(_ inspection: Inspection) throws {
            let rows = try inspection.rows()
            guard let first = rows.firstIndex(where: { $0.contains(" traffic ") }),
                let last = rows.lastIndex(where: { $0.contains(" reading ") })
            else { return nil }
            above = rows[...first].map { $0.contains("[2 Traffic]") ? $0 : Self.withoutRates($0) }
            below = Array(rows[last...])
            let names = [
                "pane_title", "alternate_on", "cursor_flag", "cursor_x", "cursor_y", "mouse_any_flag", "insert_flag",
                "wrap_flag", "origin_flag", "keypad_flag",
            ]
            terminal = try inspection.tmux.format(names.map { "#{\($0)}" }.joined(separator: "|"))
        }

        /// Without what changes by itself: bytes a second, and how often the screen is drawn.
        private static func withoutRates(_ row: String) -> String {
            let words = row.filter { !$0.isNumber && $0 != "." }.split(separator: " ")
            return words.filter { !$0.contains("/s") && $0 != "Hz" }.joined(separator: " ")
        }
    }

    /// All that may stand in a capture with its styles: printable text, line feeds, and SGR sequences, which are ours.
    private func expectOnlyOurEscapes(_ inspection: Inspection, _ comment: Comment) throws {
        let capture = try inspection.tmux.command("capture-pane", "-e", "-p", "-t", "s")
        var scalars = capture.unicodeScalars[...]
        while let scalar = scalars.popFirst() {
            if scalar == "\u{1B}" {
                let sequence = scalars.prefix { $0 != "m" }
                #expect(sequence.first == "[", comment)
                #expect(sequence.dropFirst().allSatisfy { "0123456789;:".unicodeScalars.contains($0) }, comment)
                scalars = scalars.dropFirst(sequence.count + 1)
            } else {
                #expect(scalar == "\n" || Self.isHarmless(scalar), "\(comment): U+\(String(scalar.value, radix: 16))")
            }
        }
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

extension Inspection {
    /// Whether the program has taken so many bytes out of the kernel.
    func hasRead(_ count: Int, from port: UInt16) throws -> Bool {
        let row = try SocketStatistics.all().first { $0.localPort == port && $0.state == "ESTAB" }
        return row.map { $0.bytesReceived == UInt64(count) && $0.receiveQueue == 0 } ?? false
    }
}
