import SocketCore

/// Addresses and paths that are too long for their place.
package enum Shorten {
    /// Cut in the middle, so that both the beginning and the last `tail` columns stay.
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

    /// Columns that the port takes with its colon; 0 where there is none.
    package static func portTail(_ address: String) -> Int {
        guard !address.hasPrefix("unix:"), let colon = address.lastIndex(of: ":") else { return 0 }
        let port = address[colon...].dropFirst()
        return !port.isEmpty && port.count <= 5 && port.allSatisfy(\.isNumber) ? port.count + 1 : 0
    }

    /// A foreign address, made safe and cut so that the port always stays.
    package static func address(_ text: String, to width: Int, _ style: Style, _ model: Model) -> Line {
        var line = Line()
        model.sanitizer.append(text, style, to: &line)
        return middle(line, to: width, tail: portTail(text), model.glyphs)
    }
}
