extension ReadRequest {
    /// The kinds of read: the three of GCDAsyncSocket, and frames.
    public enum Kind: Hashable, Sendable {
        /// The first bytes to arrive: at least 1, at most `limit`. If `limit` is `nil`, it takes what one pass brings.
        case available(limit: Int?)
        /// Exactly this many bytes.
        case length(Int)
        /// Everything up to and including the first occurrence of `terminator`. Fails if the first `limit` bytes hold
        /// no complete terminator. If `limit` is `nil`, the peer decides how much memory the read takes.
        case delimiter(_ terminator: [UInt8], limit: Int?)
        /// One frame that starts with its own length, header included. Fails with `readMaxedOut` if the length is over
        /// the limit or less than the header.
        indirect case frame(LengthPrefix)
    }
}

extension ReadRequest.Kind {
    /// The kinds by name, in the order of the read dialog. The raw value is the word that the user types and sees.
    package enum Word: String, Equatable, Sendable, CaseIterable {
        case any, length, until, frame

        /// The name in JSON and on the inspection wire.
        package var name: String {
            switch self {
            case .any: "available"
            case .length: "length"
            case .until: "delimiter"
            case .frame: "frame"
            }
        }

        /// The parts that follow the word, in this order. Only a required part can follow immediately, and it must be
        /// the first.
        package var parts: [ReadPart] {
            switch self {
            case .any: [.limit]
            case .length: [.length]
            case .until: [.terminator, .limit]
            case .frame: [.width, .order, .offset, .counting, .limit]
            }
        }
    }

    /// The name of the kind.
    package var word: Word {
        switch self {
        case .available: .any
        case .length: .length
        case .delimiter: .until
        case .frame: .frame
        }
    }

    /// The values of the kind's parts.
    package var values: ReadValues {
        switch self {
        case .available(let limit): ReadValues(limit: limit)
        case .length(let length): ReadValues(length: length)
        case .delimiter(let terminator, let limit): ReadValues(terminator: terminator, limit: limit)
        case .frame(let prefix): ReadValues(prefix: prefix, limit: prefix.limit)
        }
    }

    /// Creates a kind from its name and the values of its parts. It may be invalid, as `flaw` says.
    package init(_ word: Word, _ values: ReadValues) {
        switch word {
        case .any: self = .available(limit: values.limit)
        case .length: self = .length(values.length)
        case .until: self = .delimiter(values.terminator, limit: values.limit)
        case .frame:
            var prefix = values.prefix
            if let limit = values.limit { prefix.limit = limit }
            self = .frame(prefix)
        }
    }

    /// The total number of bytes, or `nil` if the kind does not say.
    package var total: Int? {
        switch self {
        case .length(let count): count
        case .available, .delimiter, .frame: nil
        }
    }

    /// Whether a read of this kind can complete; `flaw` says why not.
    @inline(__always)
    var isValid: Bool {
        switch self {
        case .available(let limit): return limit ?? 1 > 0
        case .length(let length): return length > 0
        case .delimiter(let terminator, let limit): return !terminator.isEmpty && limit ?? .max >= terminator.count
        case .frame(let prefix):
            return LengthPrefix.offsets.contains(prefix.offset) && prefix.limit >= prefix.headerLength
        }
    }

    /// Why no read of this kind can ever complete, or `nil` if one can.
    package var flaw: ReadFlaw? {
        guard !isValid else { return nil }
        switch self {
        case .available(let limit): return ReadFlaw(.limit, limit, "must be at least 1; nil means none")
        case .length(let count): return ReadFlaw(.length, count, "must be at least 1")
        case .delimiter(let terminator, let limit):
            if terminator.isEmpty { return ReadFlaw(.terminator, nil, "must hold at least one byte") }
            return ReadFlaw(.limit, limit, "must be at least the delimiter's \(terminator.count) bytes")
        case .frame(let prefix):
            guard LengthPrefix.offsets.contains(prefix.offset) else {
                return ReadFlaw(.offset, prefix.offset, "must be 0 to \(LengthPrefix.offsets.upperBound)")
            }
            return ReadFlaw(.limit, prefix.limit, "must be at least the header's \(prefix.headerLength) bytes")
        }
    }

    /// Whether the bytes of a standing read of this kind can be lent.
    var canLend: Bool {
        switch self {
        case .available, .delimiter: true
        case .length, .frame: false
        }
    }

    /// The error's text when the limit is reached.
    var overrunDetail: String {
        switch self {
        case .delimiter(let terminator, let limit):
            let shown = EscapedText.show(terminator.prefix(16)) + (terminator.count > 16 ? "..." : "")
            return "no delimiter \"\(shown)\" within the limit of \(limit ?? 0) bytes"
        case .frame(let prefix):
            return "the frame's length is not between \(prefix.headerLength) (its header) and \(prefix.limit) bytes"
                + " (the limit)"
        case .available, .length:
            return "the limit was reached"
        }
    }
}

/// A problem with a kind of read: the part, its value if that is a number, and what it must be.
package struct ReadFlaw: Error, Equatable, Sendable {
    package var part: ReadPart
    package var value: Int?
    package var message: String

    init(_ part: ReadPart, _ value: Int?, _ message: String) {
        self.part = part
        self.value = value
        self.message = message
    }
}
