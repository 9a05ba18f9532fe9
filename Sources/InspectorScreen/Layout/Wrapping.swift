import InspectorCore

/// Breaks text into rows.
enum Wrapping {
    /// Joins words to as few rows as possible, each after an indent. A word longer than a row continues in the next
    /// one, at a blank if it has one.
    static func rows(_ words: [Line], separator: String, indent: Int = 0, width: Int) -> [Line] {
        var rows: [Line] = []
        let blank = Line(String(repeating: " ", count: indent))
        let room = max(indent + 8, width)
        var line = blank
        func end() {
            rows.append(line)
            line = blank
        }
        for word in words {
            if line.width > indent && line.width + separator.count + word.width > room { end() }
            if line.width > indent { line.append(separator) }
            var rest = word
            while line.width + rest.width > room {
                let part = rest.breakAfter(0, room - line.width)
                line.append(rest.columns(0..<part))
                rest = rest.columns(part..<rest.width).withoutLeadingBlanks
                end()
            }
            line.append(rest)
        }
        if line.width > indent { end() }
        return rows
    }
}
