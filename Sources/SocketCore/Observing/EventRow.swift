/// The inspector's description of one kind of event. The words on the screen, JSON, the marks below the sparklines, and
/// the tables in the docs are made from the rows of `EventCatalogue`.
package struct EventRow: Sendable {
    package struct Traits: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// It belongs to an operation and has that operation's tag.
        package static let tagged = Traits(rawValue: 1)
        /// The user should look at it.
        package static let warning = Traits(rawValue: 2)
        /// In Traffic it precedes the bytes of the same turn of the engine.
        package static let beforeBytes = Traits(rawValue: 4)
    }

    /// Its label on the screen, in at most 14 columns.
    package var label: String
    /// The word in JSON, or `nil` if it is the kind's own name.
    package var word: String?
    package var traits: Traits
    /// Its letter below the sparklines, or `nil` if it has none.
    package var mark: EventMark?
    /// The meaning of the event's first number.
    package var first: EventNumber
    /// The meaning of the event's second number.
    package var second: EventNumber
    /// Describes the numbers: the first phrase whose every part is known.
    package var detail: [EventPhrase]
    /// The sentence in Traffic, chosen as `detail` is, or `nil` if the event is not shown there.
    package var sentence: [EventPhrase]?

    package init(
        _ label: String, word: String? = nil, _ traits: Traits = [], mark: EventMark? = nil,
        first: EventNumber = .unused, second: EventNumber = .unused, detail: [EventPhrase] = [],
        sentence: [EventPhrase]? = nil
    ) {
        (self.label, self.word, self.traits, self.mark) = (label, word, traits, mark)
        (self.first, self.second, self.detail, self.sentence) = (first, second, detail, sentence)
    }

    package var hasTag: Bool { traits.contains(.tagged) }
    package var isWarning: Bool { traits.contains(.warning) }
}

/// The letters below the sparklines. Within one second, the last of these hides the others.
package enum EventMark: Int, CaseIterable, Sendable {
    case read, write
    /// A read and a write.
    case both
    case pause, connect, end, failure
}

/// The meaning of one of an event's two numbers. Texts are names in JSON unless described otherwise.
package enum EventNumber: Sendable {
    case unused
    /// Bytes. The screen shows every digit.
    case bytes(String)
    /// Bytes. The screen shows three digits and the unit.
    case size(String)
    /// The total bytes of an operation, or 0 if unknown.
    case total(String)
    /// A number of things, with their noun in the singular and in the plural.
    case count(String, String, String)
    case milliseconds(String)
    case microseconds(String)
    /// A timeout in milliseconds. A negative number means none.
    case timeout(String)
    /// An errno, or 0 if there is none.
    case errno
    /// The number of a TLS alert.
    case alert
    /// The index of an address in `ConnectSnapshot.attempts`.
    case attempt
    /// The number of another session.
    case session(String)
    /// An `OperationID`. The screen does not show it.
    case operation
    /// OpenSSL's verification code. The screen does not show it.
    case verifyCode
    /// The number of a rule or of a breakpoint.
    case rule(String)
    /// A position in a stream, in bytes from its start, or a negative number if there is none.
    case offset(String)
    /// An index into these choices.
    case choice([EventChoice])
}

/// One meaning of a number that is an index.
package struct EventChoice: Sendable {
    package enum Fact: Sendable {
        case flag(Bool)
        case word(String)
    }

    /// The words on the screen, empty if there are none.
    package var words: String
    /// The members in JSON. All choices of a number have the same names.
    package var members: KeyValuePairs<String, Fact>

    package init(_ words: String, _ members: KeyValuePairs<String, Fact>) {
        (self.words, self.members) = (words, members)
    }
}

/// Text with placeholders for an event's values: `"after \(.second), \(.first) B so far"`.
package struct EventPhrase: Sendable, ExpressibleByStringInterpolation {
    /// A placeholder. A phrase is used only if all its placeholders have text.
    package enum Place: Sendable {
        case first, second
        /// The number, if it is above 0.
        case positiveFirst, positiveSecond
        /// The row's label and its detail.
        case label, detail
        /// The session's local address, its peer, and why it ended.
        case local, peer, ending
        /// The key that answers a question.
        case answer
        /// The key that answers a question, while the event's operation waits for a verdict.
        case pendingAnswer
    }

    /// Conditions, which add no text.
    package enum Condition: Sendable {
        case firstIs(Int)
        case roleIs(SocketRole)
    }

    package enum Part: Sendable {
        case text(String)
        case place(Place)
        case condition(Condition)
    }

    package var parts: [Part]

    package init(stringLiteral text: String) { parts = [.text(text)] }
    package init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ text: String) {
            if !text.isEmpty { parts.append(.text(text)) }
        }

        package mutating func appendInterpolation(_ place: Place) { parts.append(.place(place)) }
        package mutating func appendInterpolation(if condition: Condition) { parts.append(.condition(condition)) }
    }
}
