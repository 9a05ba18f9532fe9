/// Takes the terminal's answer about its background out of what is read: `ESC ] 11 ; rgb:1e1e/1e1e/1e1e`, then BEL or
/// `ESC \`. The answer can come at any time and in pieces, and no part of it is a key or text.
///
/// An Esc at the end of a batch is Esc, unless an answer is awaited: then the next read decides.
struct BackgroundAnswer: Sendable {
    typealias Input = KeyDecoder.Input

    private enum State: Hashable {
        case idle, escape
        /// Between `]` and `;`: the digits so far.
        case number(String)
        case colour(String)
        /// The Esc of `ESC \` was read.
        case terminator
    }

    private var state = State.idle
    /// What may be the beginning of an answer.
    private var held: [Input] = []
    /// Whether what is held was read by an earlier batch.
    private var isCarried = false
    private var isInPaste = false
    private var quietReads = 0
    /// Empty reads after which no answer is awaited any more; 0: none is awaited.
    private var patience = 0
    private var background: RGB?

    /// Longer answers are none.
    private static let longest = 40
    /// Empty reads, about ten a second, before what is held turns out to be keys.
    private static let quietAfterEscape = 2
    private static let quietAfterNumber = 5

    /// The terminal has been asked.
    mutating func expect() { patience = 20 }

    /// Whether the terminal was asked, and may answer yet.
    var isAwaited: Bool { patience > 0 }

    /// The background, if an answer has come since the last call.
    mutating func take() -> RGB? {
        defer { background = nil }
        return background
    }

    /// A paste was ended without its mark.
    mutating func endPaste() { isInPaste = false }

    /// A batch without the answers in it. What an earlier batch held back comes in a batch of its own.
    mutating func filter(_ batch: [Input]) -> [[Input]] {
        var batches: [[Input]] = []
        var passed: [Input] = []
        guard !batch.isEmpty else { return rest() }
        quietReads = 0
        for input in batch { take(input, &passed, &batches) }
        if state == .escape, !isAwaited { release(&passed, &batches) }
        isCarried = !held.isEmpty
        return batches + [passed]
    }

    /// Nothing more has come.
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

    private mutating func take(_ input: Input, _ passed: inout [Input], _ batches: inout [[Input]]) {
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
            take(input, &passed, &batches)
        case (.escape, _), (.number, _), (.colour, _):
            release(&passed, &batches)
            take(input, &passed, &batches)
        }
    }

    private mutating func hold(_ input: Input, _ next: State) {
        held.append(input)
        state = next
    }

    /// Releases what turned out not to be an answer.
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
