import SocketCore

/// Shortens addresses and paths that are too long for their place.
package enum Shorten {
    /// Cuts the middle, so that the beginning and the last `tail` columns are kept.
    package static func middle(_ line: Line, to width: Int, tail: Int, _ glyphs: Glyphs) -> Line {
        guard line.width > width else { return line }
        guard width > 0 else { return Line() }
        let room = width - 1
        let end = min(room, max(tail, room / 2))
        var short = line.columns(0..<room - end)
        short.append(String(glyphs.ellipsis), Style(.dim))
        short.append(line.columns(line.width - end..<line.width))
        return short
    }

    /// Leaves out a sentence's last clauses if it does not fit.
    package static func clause(_ text: String, to width: Int) -> String {
        guard text.count > width else { return text }
        for separator in ";,:" as String {
            let ends = text.indices.filter { text[$0] == separator && text[$0...].dropFirst().first == " " }
            if let short = ends.map({ String(text[..<$0]) }).last(where: { $0.count <= width }) { return short }
        }
        return text
    }

    /// Returns the first of these that fits, or else the last.
    package static func fitting(_ texts: [String], in width: Int) -> String {
        texts.first { $0.count <= width } ?? texts.last ?? ""
    }

    /// Returns the width of the port with its colon, or 0 if there is none.
    package static func portTail(_ address: String) -> Int {
        guard !address.hasPrefix("unix:"), let colon = address.lastIndex(of: ":") else { return 0 }
        let port = address[colon...].dropFirst()
        return !port.isEmpty && port.count <= 5 && port.allSatisfy(\.isNumber) ? port.count + 1 : 0
    }

}
