/// Filters the terminal's answer about its background out of the input: `ESC ] 11 ; rgb:1e1e/1e1e/1e1e`, followed by
/// BEL or `ESC \`. The answer can arrive at any time and in pieces, and no part of it is a key or text.
///
/// An Esc at the end of a batch is the Esc key, unless an answer is expected. Then the next read decides.
package struct BackgroundAnswer: Sendable {
    typealias Input = KeyDecoder.Input

    private enum State: Equatable {
        case idle, escape
        /// Between `]` and `;`, with the digits so far.
        case number(String)
        case colour(String)
        /// The Esc of `ESC \` was read.
        case terminator
    }

    private var state = State.idle
    /// The input that may be the start of an answer.
    private var held: [Input] = []
    /// Whether the held input is from an earlier batch.
    private var isCarried = false
    private var isInPaste = false
    private var quietReads = 0
    /// The number of empty reads after which no answer is expected, or 0 if none is.
    private var patience = 0
    private var background: RGB?

    /// The maximum length of an answer.
    private static let longest = 40
    /// The number of empty reads, about ten per second, after which held input counts as keys.
    private static let quietAfterEscape = 2
    private static let quietAfterNumber = 5

    /// Called when the terminal has been asked.
    mutating func expect() { patience = 20 }

    /// Whether the terminal was asked and may still answer.
    var isAwaited: Bool { patience > 0 }

    /// Returns the background, if an answer has arrived since the last call.
    mutating func take() -> RGB? {
        defer { background = nil }
        return background
    }

    /// Called when a paste ended without its mark.
    mutating func endPaste() { isInPaste = false }

    /// Returns a batch without the answers in it. Input held back from an earlier batch becomes its own batch.
    mutating func filter(_ batch: [Input]) -> [[Input]] {
        var batches: [[Input]] = []
        var passed: [Input] = []
        guard !batch.isEmpty else { return rest() }
        quietReads = 0
        for input in batch { absorb(input, &passed, &batches) }
        if state == .escape, !isAwaited { release(&passed, &batches) }
        isCarried = !held.isEmpty
        return batches + [passed]
    }

    /// Called when nothing more has arrived.
    private mutating func rest() -> [[Input]] {
        quietReads += 1
        let limit: Int
        switch state {
        case .escape, .terminator: limit = Self.quietAfterEscape
        case .number: limit = isAwaited ? Self.quietAfterNumber : 1
        case .idle, .colour: limit = .max
        }
        patience = max(0, patience - 1)
        guard quietReads >= limit else { return [] }
        defer { (state, held, isCarried) = (.idle, [], false) }
        return state == .terminator ? [] : [held]
    }

    private mutating func absorb(_ input: Input, _ passed: inout [Input], _ batches: inout [[Input]]) {
        if input == .code(KeyDecoder.pasteBegins) { isInPaste = true }
        if input == .code(KeyDecoder.pasteEnds) { isInPaste = false }
        switch (state, input) {
        case (.idle, .scalar("\u{1B}")) where !isInPaste || isAwaited: hold(input, .escape)
        case (.idle, .scalar("\u{9D}")) where !isInPaste || isAwaited: hold(input, .number(""))
        case (.idle, _): passed.append(input)
        case (.escape, .scalar("]")): hold(input, .number(""))
        case (.number(let digits), .scalar("1")) where digits.count < 2: hold(input, .number(digits + "1"))
        case (.number("11"), .scalar(";")): (state, held) = (.colour(""), [])
        case (.colour(let text), .scalar("\u{7}")), (.colour(let text), .scalar("\u{9C}")): end(text, .idle)
        case (.colour(let text), .scalar("\u{1B}")): end(text, .terminator)
        case (.colour(let text), .scalar(let scalar)) where Self.belongs(scalar) && text.count < Self.longest:
            state = .colour(text + String(scalar))
        case (.terminator, .scalar("\\")): state = .idle
        case (.terminator, _):
            held = [.scalar("\u{1B}")]
            release(&passed, &batches)
            absorb(input, &passed, &batches)
        case (.escape, _), (.number, _), (.colour, _):
            release(&passed, &batches)
            absorb(input, &passed, &batches)
        }
    }

    private mutating func hold(_ input: Input, _ next: State) {
        held.append(input)
        state = next
    }

    /// Releases input that turned out not to be an answer.
    private mutating func release(_ passed: inout [Input], _ batches: inout [[Input]]) {
        if isCarried { batches.append(held) } else { passed += held }
        (state, held, isCarried) = (.idle, [], false)
    }

    private mutating func end(_ text: String, _ next: State) {
        background = RGB(answer: text) ?? background
        (state, patience) = (next, 0)
    }

    private static func belongs(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isASCIIHexDigit || "rgba:/".unicodeScalars.contains(scalar)
    }
}
