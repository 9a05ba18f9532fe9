/// Decodes what curses reads, characters and its own key codes, into keys and pastes.
///
/// One batch is what could be read without waiting. An Esc that is followed by input in its batch is that key with Alt
/// (or without, if it has no such form). An Esc at the end of its batch is Esc. A control sequence that curses doesn't
/// know is dropped. Between the marks of a bracketed paste everything is text. The terminal's answer about its
/// background becomes a separate message.
package struct KeyDecoder: Sendable {
    /// One item that curses read.
    package enum Input: Equatable, Sendable {
        case scalar(Unicode.Scalar)
        case code(Int32)
    }

    /// The codes assigned to the marks around a bracketed paste, for which curses has none.
    package static let pasteBegins: Int32 = 5000
    package static let pasteEnds: Int32 = 5001
    /// The codes assigned to arrows with Alt, for which curses has none.
    package static let altLeft: Int32 = 5002
    package static let altRight: Int32 = 5003
    /// The maximum size of a paste in bytes. The rest is dropped, and never read as keys. No field accepts that much,
    /// so a truncated paste is rejected as a whole.
    package static let longestPaste = 1 << 20

    private var paste: String?
    private var answer = BackgroundAnswer()
    /// Whether the last character of the paste was a carriage return. A following line feed belongs to it.
    private var endsWithReturn = false

    package init() {}

    /// Whether a paste has started and not ended.
    package var isPasting: Bool { paste != nil }

    /// Whether the terminal was asked for its background and may still answer.
    package var awaitsBackground: Bool { answer.isAwaited }

    /// Called when the terminal was asked for its background.
    package mutating func expectBackground() { answer.expect() }

    /// Decodes one batch: keys and pastes, in order, then the terminal's answer. An empty batch means that nothing has
    /// arrived for a while.
    package mutating func decode(_ batch: [Input]) -> [Message] {
        var messages: [Message] = []
        for part in answer.filter(batch) { messages += decodeKeys(part) }
        if let background = answer.take() { messages.append(.background(isLight: background.isLight)) }
        return messages
    }

    private mutating func decodeKeys(_ batch: [Input]) -> [Message] {
        var messages: [Message] = []
        var rest = batch[...]
        while let input = rest.popFirst() {
            if input == .code(Self.pasteBegins) {
                paste = paste ?? ""
            } else if isPasting {
                if input == .code(Self.pasteEnds) { messages += endPaste() } else { collect(input) }
            } else if input == .scalar("\u{1B}") {
                if let key = Self.escaped(&rest) { messages.append(.key(key)) }
            } else if let key = Self.key(input) {
                messages.append(.key(key))
            }
        }
        return messages
    }

    /// Returns the contents of a paste whose end mark is missing.
    package mutating func endPaste() -> [Message] {
        defer { (paste, endsWithReturn) = (nil, false) }
        answer.endPaste()
        return paste.map { [.paste($0)] } ?? []
    }

    private mutating func collect(_ input: Input) {
        guard case .scalar(let scalar) = input else { return }
        defer { endsWithReturn = scalar == "\r" }
        guard (paste?.utf8.count ?? 0) < Self.longestPaste, scalar != "\n" || !endsWithReturn else { return }
        paste?.unicodeScalars.append(scalar == "\r" ? "\n" : scalar)
    }

    /// Returns the key for an Esc and the input after it in its batch, or `nil` if the sequence is not a key.
    private static func escaped(_ rest: inout ArraySlice<Input>) -> Key? {
        switch rest.first {
        case .code(let code):
            guard code != pasteBegins, code != pasteEnds, let key = key(.code(code)) else { return .escape }
            rest.removeFirst()
            return key == .left ? .altLeft : key == .right ? .altRight : key
        case .scalar("\r"), .scalar("\n"):
            rest.removeFirst()
            return .altEnter
        case .scalar("[") where rest.count > 1:
            skipSequence(&rest)
            return nil
        case .scalar(let scalar) where scalar.value > 0x20 && scalar.value != 0x7F:
            rest.removeFirst()
            return .alt(Character(scalar))
        case .scalar, nil: return .escape
        }
    }

    /// Drops a control sequence: `[`, parameters, one final character.
    private static func skipSequence(_ rest: inout ArraySlice<Input>) {
        rest.removeFirst()
        while case .scalar(let scalar) = rest.first, scalar.value >= 0x20, scalar.value < 0x7F {
            rest.removeFirst()
            if scalar.value >= 0x40 { return }
        }
    }

    private static func key(_ input: Input) -> Key? {
        switch input {
        case .scalar(let scalar): character(scalar)
        case .code(let code): codes[code] ?? function(code)
        }
    }

    private static func character(_ scalar: Unicode.Scalar) -> Key? {
        switch scalar.value {
        case 0x09: .tab
        case 0x0A, 0x0D: .enter
        case 0x1B: .escape
        case 0x08, 0x7F: .backspace
        case 0x01...0x1A: .control(Character(Unicode.Scalar(UInt8(scalar.value + 0x60))))
        case 0x00, 0x1C...0x1F: .control(Character(Unicode.Scalar(UInt8(scalar.value + 0x40))))
        case 0x80...0x9F: nil
        default: .character(Character(scalar))
        }
    }

    private static func function(_ code: Int32) -> Key? {
        (firstFunction + 1...firstFunction + 24).contains(code) ? .function(Int(code - firstFunction)) : nil
    }

    /// KEY_F0.
    package static let firstFunction: Int32 = 0o410

    /// Curses' codes, which are the same everywhere.
    package static let codes: [Int32: Key] = [
        0o402: .down, 0o403: .up, 0o404: .left, 0o405: .right, 0o406: .home, 0o407: .backspace,
        0o512: .delete, 0o513: .insert, 0o522: .pageDown, 0o523: .pageUp, 0o527: .enter, 0o541: .backTab, 0o550: .end,
        0o611: .shiftLeft, 0o622: .shiftRight, altLeft: .altLeft, altRight: .altRight,
        // The keypad's corners, and the Home and End of some terminals.
        0o534: .home, 0o535: .pageUp, 0o537: .end, 0o540: .pageDown, 0o552: .home, 0o601: .end,
    ]
}
