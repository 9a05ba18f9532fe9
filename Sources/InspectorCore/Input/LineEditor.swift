/// An editable line of text.
package struct LineEditor: Hashable, Sendable {
    /// The characters, including line feeds from a paste or Alt-Enter.
    package private(set) var characters: [Character]
    /// The index of the character before which the next one is inserted.
    package private(set) var cursor: Int
    /// Lines entered before, oldest first.
    package private(set) var history: [String] = []
    private var historyIndex: Int?
    private var draft = ""
    private var killed: [Character] = []

    /// The most lines remembered.
    package static let historyLimit = 200
    /// The most characters. More are cut off.
    package static let lengthLimit = 65_536

    package init(_ text: String = "") {
        characters = Array(text)
        cursor = characters.count
    }

    package var text: String { String(characters) }
    package var isEmpty: Bool { characters.isEmpty }
    /// Whether an earlier line is shown.
    package var isRecalling: Bool { historyIndex != nil }

    /// Replaces the text and moves the cursor to its end.
    package mutating func set(_ text: String) {
        characters = Array(text.prefix(Self.lengthLimit))
        cursor = characters.count
    }

    /// Inserts text at the cursor. Carriage returns and CR LF become line feeds.
    package mutating func insert(_ text: String) {
        var added: [Character] = []
        for character in text { added.append(character == "\r\n" || character == "\r" ? "\n" : character) }
        added = Array(added.prefix(max(0, Self.lengthLimit - characters.count)))
        let joined = joining(added)
        characters.replaceSubrange(joined.range, with: joined.characters)
        cursor = min(joined.cursor, characters.count)
        historyIndex = nil
    }

    /// Returns the characters around the cursor after an insertion: a combining mark joins the previous one, and two
    /// regional indicators make a flag. The rest of a long line is not examined.
    package func joining(_ added: [Character]) -> (range: Range<Int>, characters: [Character], cursor: Int) {
        var start = max(0, cursor - 1)
        while start > 0, characters[start].isFlag { start -= 1 }
        var end = min(characters.count, cursor + 1)
        while end < characters.count, characters[end - 1].isFlag { end += 1 }
        let head = Array(String(characters[start..<cursor]) + String(added))
        let all = Array(String(head) + String(characters[cursor..<end]))
        return (start..<end, all, start + head.count)
    }

    /// Ends the line: remembers it and clears the field.
    package mutating func commit() {
        if !isEmpty && history.last != text { history.append(text) }
        if history.count > Self.historyLimit { history.removeFirst() }
        set("")
        historyIndex = nil
    }

    /// Remembers lines as if they had been entered, oldest first.
    package mutating func remember(_ lines: [String]) {
        history = Array(lines.suffix(Self.historyLimit))
    }

    /// A change that a key can make. The raw value is the action's name.
    package enum Edit: String, Sendable {
        case left, right
        case lineStart = "line-start"
        case lineEnd = "line-end"
        case wordLeft = "word-left"
        case wordRight = "word-right"
        case backspace, delete
        case cutToEnd = "cut-to-end"
        case cutToStart = "cut-to-start"
        case cutWord = "cut-word"
        case putBack = "put-back"
        case older = "history-up"
        case newer = "history-down"
        case newLine = "insert-line"
    }

    package mutating func edit(_ edit: Edit) {
        switch edit {
        case .left: cursor = max(0, cursor - 1)
        case .right: cursor = min(characters.count, cursor + 1)
        case .lineStart: cursor = 0
        case .lineEnd: cursor = characters.count
        case .wordLeft: cursor = wordStart()
        case .wordRight: cursor = wordEnd()
        case .backspace: remove(max(0, cursor - 1)..<cursor)
        case .delete: remove(cursor..<min(characters.count, cursor + 1))
        case .cutToEnd: kill(cursor..<characters.count)
        case .cutToStart: kill(0..<cursor)
        case .cutWord: kill(wordStart()..<cursor)
        case .putBack: insert(String(killed))
        case .older: recall(-1)
        case .newer: recall(1)
        case .newLine: insert("\n")
        }
    }

    private mutating func remove(_ range: Range<Int>) {
        characters.removeSubrange(range)
        cursor = range.lowerBound
        historyIndex = nil
    }

    private mutating func kill(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        killed = Array(characters[range])
        remove(range)
    }

    private func wordStart() -> Int {
        var index = cursor
        while index > 0 && characters[index - 1].isWhitespace { index -= 1 }
        while index > 0 && !characters[index - 1].isWhitespace { index -= 1 }
        return index
    }

    private func wordEnd() -> Int {
        var index = cursor
        while index < characters.count && characters[index].isWhitespace { index += 1 }
        while index < characters.count && !characters[index].isWhitespace { index += 1 }
        return index
    }

    /// Moves in this direction to the next line in the history that starts with the typed text, or to any next line if
    /// none does. After the latest one, returns to the typed text.
    private mutating func recall(_ step: Int) {
        let typed = historyIndex == nil ? text : draft
        var index = (historyIndex ?? history.count) + step
        let isKnown = history.contains { $0.hasPrefix(typed) }
        while isKnown, history.indices.contains(index), !history[index].hasPrefix(typed) { index += step }
        guard (0...history.count).contains(index) else { return }
        draft = typed
        set(index == history.count ? draft : history[index])
        historyIndex = index == history.count ? nil : index
    }

    /// Returns the part of the field that fits in `width` columns, and the cursor's column in it. The field scrolls
    /// sideways, and an ellipsis marks hidden text. Characters in `wrong` are drawn as an error.
    package func window(
        width: Int, sanitizer: Sanitizer, glyphs: Glyphs, wrong: Range<Int>? = nil
    ) -> (line: Line, cursor: Int) {
        guard width > 0 else { return (Line(), 0) }
        let near = near(width: width, sanitizer, glyphs)
        var line = Line()
        var cursorColumn = 0
        for index in near {
            if index == cursor { cursorColumn = line.width }
            let isWrong = wrong?.contains(index) ?? false
            let style = isWrong ? Style(.error, [.underline]) : .plain
            append(characters[index], style, to: &line, sanitizer, glyphs)
        }
        if cursor == near.upperBound { cursorColumn = line.width }
        guard line.width >= width else { return (line, cursorColumn) }
        let start = min(max(0, cursorColumn - width * 3 / 4), line.width + 1 - width)
        var part = line.columns(start..<start + width - (cursorColumn == start + width - 1 ? 1 : 0))
        if start > 0 && part.width > 1 && cursorColumn > start {
            var marked = Line(String(glyphs.ellipsis), Style(.dim))
            marked.append(part.columns(1..<part.width))
            part = marked
        }
        if start + width < line.width && width > 1 && cursorColumn < start + width - 1 {
            part = Self.cutMark(part, width: width, glyphs)
        }
        return (part, cursorColumn - start)
    }

    /// Returns the characters around the cursor that can be visible in `width` columns, and a few more, so that a long
    /// line is not laid out for each key. At least `width` columns on either side, or all that there are.
    package func near(width: Int, _ sanitizer: Sanitizer, _ glyphs: Glyphs) -> Range<Int> {
        func columns(_ index: Int) -> Int {
            var line = Line()
            append(characters[index], .plain, to: &line, sanitizer, glyphs)
            return line.width
        }
        var (start, end) = (cursor, cursor)
        var room = width + 1
        // A combining mark has no width, so the number of characters is limited too.
        while start > 0, room > 0, cursor - start < 4 * width {
            start -= 1
            room -= columns(start)
        }
        room = width + 2
        while end < characters.count, room > 0, end - cursor < 4 * width {
            room -= columns(end)
            end += 1
        }
        return start..<end
    }

    /// Appends one character. A line break is shown as a sign that can't be typed.
    private func append(
        _ character: Character, _ style: Style, to line: inout Line, _ sanitizer: Sanitizer, _ glyphs: Glyphs
    ) {
        guard character == "\n" else { return sanitizer.append(String(character), style, to: &line) }
        line.append(glyphs.lineBreak, Style(.heading, [.reverse]))
    }

    private static func cutMark(_ line: Line, width: Int, _ glyphs: Glyphs) -> Line {
        var marked = line.columns(0..<max(0, width - 1))
        marked.pad(to: width - 1)
        marked.append(String(glyphs.ellipsis), Style(.dim))
        return marked
    }
}

extension Character {
    /// Whether it is one or two regional indicators. How they pair depends on all adjacent ones.
    fileprivate var isFlag: Bool { unicodeScalars.contains { (0x1F1E6...0x1F1FF).contains($0.value) } }
}
