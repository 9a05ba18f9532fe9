import SocketCore

/// Something that a run without a screen waits to receive: one `--expect`.
package struct Expectation: Hashable, Sendable {
    /// What it looks for.
    package enum Kind: Hashable, Sendable {
        case bytes([UInt8])
        case pattern(Pattern)
    }

    /// As it was typed.
    package let text: String
    package let kind: Kind
    /// How long it may take, counted from when the one before was met, or from the start.
    package var limit: Duration

    /// Unless `--within` says otherwise: as a script's wait.
    package static let patience = Duration.seconds(10)

    /// Bytes of a text or `hex:`.
    package static let longest = 16_384

    /// Reads `TEXT` with escapes, `/regular expression/` or `hex:0d 0a`.
    package static func parse(_ text: String) -> Result<Expectation, EscapedText.Failure> {
        if text.count > 2, text.hasPrefix("/"), text.hasSuffix("/") {
            do throws(Pattern.Failure) {
                let pattern = try Pattern(String(text.dropFirst().dropLast()), .bytes)
                return .success(Expectation(text: text, kind: .pattern(pattern), limit: patience))
            } catch {
                return .failure(.init(column: 2, message: error.message))
            }
        }
        let isHex = text.hasPrefix("hex:")
        let bytes = isHex ? HexText.parse(String(text.dropFirst(4))) : EscapedText.parse(text)
        return bytes.mapError { .init(column: $0.column + (isHex ? 4 : 0), message: $0.message) }.flatMap { bytes in
            guard !bytes.isEmpty else { return .failure(.init(column: 1, message: "nothing to look for")) }
            guard bytes.count <= longest else {
                return .failure(.init(column: 1, message: "too long, at most \(longest) bytes"))
            }
            return .success(Expectation(text: text, kind: .bytes(bytes), limit: patience))
        }
    }
}

/// Finds expectations, in their order, in what connections receive. One is met by whichever connection receives it; the
/// next is looked for after it there, and elsewhere in all that is kept.
package struct ExpectationSearch: Sendable {
    private var rest: ArraySlice<Expectation>
    /// In the order in which the connections first received something.
    private var streams: [(id: SocketID, stream: Stream)] = []

    /// Bytes that are kept of a connection: as far back the next expectation is looked for.
    package static let window = 65_536
    /// Connections of which bytes are kept; the oldest is forgotten first.
    package static let mostStreams = 256

    /// What was received on one connection and is not used up by a match.
    private struct Stream: Sendable {
        var bytes: [UInt8] = []
        /// The byte before those; nil at the beginning of the stream.
        var before: UInt8?
        /// How many of the bytes the current expectation was looked for in.
        var searched = 0
        /// The search for the current expectation, if that is a pattern.
        var matching: PatternStream?

        mutating func drop(_ count: Int) {
            guard count > 0 else { return }
            before = bytes[count - 1]
            bytes.removeFirst(count)
            searched = max(0, searched - count)
        }

        /// The next expectation is looked for in all that is here.
        mutating func begin() { (searched, matching) = (0, nil) }

        /// Where the match ends; nil: there is none.
        mutating func end(of wanted: Expectation, isWhole: Bool) -> Int? {
            switch wanted.kind {
            case .pattern(let pattern):
                var stream = matching ?? PatternStream(pattern, after: before)
                let (end, used) = stream.search(bytes[searched...], isWhole: isWhole)
                matching = stream
                searched += used
                return end
            case .bytes(let text):
                defer { searched = bytes.count }
                let first = max(0, searched - text.count + 1)
                guard first + text.count <= bytes.count else { return nil }
                return (first...bytes.count - text.count).first {
                    bytes[$0] == text[0] && bytes[$0..<$0 + text.count].elementsEqual(text)
                }.map { $0 + text.count }
            }
        }
    }

    package init(_ expectations: [Expectation]) { rest = expectations[...] }

    /// What is looked for now; nil: all of them were met.
    package var current: Expectation? { rest.first }

    /// The last bytes received that met nothing, for a message: at most so many.
    package func tail(_ count: Int) -> [UInt8] { Array(streams.last?.stream.bytes.suffix(count) ?? []) }

    /// Looks in more bytes of a connection. Returns how many expectations were met by them.
    package mutating func take(_ bytes: [UInt8], from id: SocketID) -> Int {
        guard current != nil else { return 0 }
        let index = stream(of: id)
        var rest = bytes[...]
        var met = 0
        // In pieces, so that what comes at once is searched as what comes bit by bit.
        repeat {
            streams[index].stream.bytes += rest.prefix(Self.window)
            rest = rest.dropFirst(Self.window)
            met += search(isWhole: false)
            streams[index].stream.drop(max(0, streams[index].stream.bytes.count - Self.window))
        } while !rest.isEmpty && current != nil
        return met
    }

    /// Looks once more, now that nothing else comes: where all ends, `$` is true too. Returns how many were met.
    package mutating func finish() -> Int { search(isWhole: true) }

    private mutating func stream(of id: SocketID) -> Int {
        if let index = streams.lastIndex(where: { $0.id == id }) { return index }
        if streams.count == Self.mostStreams { streams.removeFirst() }
        streams.append((id, Stream()))
        return streams.count - 1
    }

    private mutating func search(isWhole: Bool) -> Int {
        var met = 0
        while let wanted = rest.first {
            var place: (index: Int, end: Int)?
            for index in streams.indices where place == nil {
                place = streams[index].stream.end(of: wanted, isWhole: isWhole).map { (index, $0) }
            }
            guard let place else { break }
            streams[place.index].stream.drop(place.end)
            for index in streams.indices { streams[index].stream.begin() }
            rest.removeFirst()
            met += 1
        }
        return met
    }
}
