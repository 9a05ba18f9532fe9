import SocketCore

// Rules as text that `FaultRule.parse` reads back.

extension FaultRule: CustomStringConvertible {
    package var description: String {
        (conditions.map(\.description) + [direction?.rawValue, effect.description].compactMap { $0 })
            .joined(separator: " ")
    }
}

extension FaultRule {
    /// The direction, if one is given, and the effect: `downstream latency 200ms`.
    package var aimedEffect: String { (direction.map { "\($0.rawValue) " } ?? "") + effect.description }
}

extension FaultCondition: CustomStringConvertible {
    package var description: String {
        switch self {
        case .connection(let number): "connection \(number)"
        case .every(let number): "every \(number)"
        case .first(let number): "first \(number)"
        case .peer(let address, let bits): "peer \(address)/\(bits)"
        case .afterBytes(let count): "after \(FaultText.size(count))"
        case .afterTime(let time): "after \(FaultText.time(time))"
        case .match(let pattern): "match \(pattern)"
        case .frame(let kind): "frame \(kind.rawValue)"
        case .exchange(let number): "on exchange \(number)"
        case .question(let pattern): "after question \(pattern)"
        case .probability(let share): "prob \(share)"
        }
    }
}

extension FaultEffect: CustomStringConvertible {
    package var description: String {
        ([name] + arguments).joined(separator: " ")
    }

    private var arguments: [String] {
        switch self {
        case .latency(let time, let jitter):
            [FaultText.time(time)] + (jitter == .zero ? [] : ["jitter", FaultText.time(jitter)])
        case .bandwidth(let rate): [FaultText.size(rate)]
        case .slice(let count, let vary, let every):
            [FaultText.size(count)] + (vary == 0 ? [] : ["vary", FaultText.size(vary)])
                + (every.map { ["every", FaultText.time($0)] } ?? [])
        case .stall(let time): time.map { [FaultText.time($0)] } ?? []
        case .limit(let count), .truncate(let count): [FaultText.size(count)]
        case .slowClose(let time), .delay(let time): [FaultText.time(time)]
        case .corrupt(let bits): ["\(bits)", "bits"]
        case .insert(let bytes): [FaultText.bytes(bytes)]
        case .replace(let pattern, let bytes): ["\(pattern)", "with", FaultText.bytes(bytes)]
        case .loss(let share), .duplicate(let share): ["\(share)"]
        case .reorder(let share, let time): ["\(share)", FaultText.time(time)]
        case .reset, .halfClose, .refuse, .noAccept: []
        }
    }
}

extension BytePattern: CustomStringConvertible {
    package var description: String {
        switch self {
        case .literal(let bytes): FaultText.bytes(bytes)
        case .expression(let pattern): "/" + FaultText.slashed(pattern.text) + "/"
        }
    }
}

/// Formats and parses the parts of a rule's text.
package enum FaultText {
    /// Returns a duration in the largest unit that expresses it exactly.
    package static func time(_ time: Duration) -> String {
        let nanoseconds = time.wholeNanoseconds
        for (unit, scale) in [("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000)] as [(String, Int64)]
        where nanoseconds >= scale && nanoseconds % scale == 0 {
            return "\(nanoseconds / scale)\(unit)"
        }
        return "\(nanoseconds / 1_000)us"
    }

    /// Parses a duration with its unit, from 1us to a day. Returns `nil` if the text isn't one.
    package static func parseTime(_ text: String) -> Duration? {
        FaultReader.time(FaultReader.Word(kind: .plain, text: text, typed: text, column: 1))
    }

    /// Parses `hex:0d0a`.
    package static func parseHex(_ text: String) throws(FaultProblem) -> [UInt8] {
        try FaultReader.hex(FaultReader.Word(kind: .plain, text: text, typed: text, column: 1))
    }

    /// Returns the problem with a text that is not a duration. A bare number could mean seconds or milliseconds.
    package static func needsTime(_ text: String) -> String {
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
        if isNumber { return "needs a unit; write \(text)s or \(text)ms" }
        let digits = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        let isOutOfRange = !digits.isEmpty && ["us", "ms", "s", "m"].contains(text.dropFirst(digits.count))
        return isOutOfRange
            ? "needs a duration from 1us to 1440m" : "needs a duration, as in 500us, 200ms, 5s or 2m"
    }

    static func size(_ count: UInt64) -> String { SizeText.show(Int(clamping: count)) }

    /// Returns bytes as one word: literally, with escapes, or in quotes.
    package static func bytes(_ bytes: [UInt8]) -> String {
        let text = EscapedText.show(bytes)
        let isWord = !text.isEmpty && !text.contains(" ") && !text.hasPrefix("/") && !text.contains("\"")
        if isWord, !text.hasPrefix("hex:") { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\x22") + "\""
    }

    /// Returns a regular expression as it is written between slashes.
    static func slashed(_ text: String) -> String {
        var result = ""
        var isEscaped = false
        for character in text.unicodeScalars {
            if character == "/", !isEscaped { result += "\\" }
            isEscaped = character == "\\" && !isEscaped
            result.unicodeScalars.append(character)
        }
        return result
    }
}
