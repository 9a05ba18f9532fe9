import SocketCore
import SocketWorkshop

/// One `--expect`: something that a run without a screen waits to receive.
package struct Expectation: Equatable, Sendable {
    /// What to find.
    package enum Kind: Hashable, Sendable {
        case bytes([UInt8])
        case pattern(Pattern)
    }

    /// The expectation as typed.
    package let text: String
    package let kind: Kind
    /// The time limit, counted from when the previous expectation was met, or from the start.
    package var limit: Duration

    /// The default of `--within`, the same as of a script's wait.
    package static let patience = Duration.seconds(10)

    /// The most bytes of a text or `hex:`.
    package static let longest = 16_384

    /// Parses `TEXT` with escapes, `/regular expression/` or `hex:0d 0a`.
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
            guard !bytes.isEmpty else { return .failure(.init(column: 1, message: "nothing to search for")) }
            guard bytes.count <= longest else {
                return .failure(.init(column: 1, message: "too long, at most \(longest) bytes"))
            }
            return .success(Expectation(text: text, kind: .bytes(bytes), limit: patience))
        }
    }
}

/// Finds expectations, in order, in what connections receive. Any connection can meet one. The next is searched for
/// after the match on that connection, and in all kept bytes of the others.
package struct ExpectationSearch: Sendable {
    private var rest: ArraySlice<Expectation>
    /// The streams, in the order in which the connections first received something.
    private var streams: [(id: SocketID, stream: Stream)] = []

    /// The number of bytes kept for a connection, and so how far back the next expectation is searched for.
    package static let window = 65_536
    /// The most connections whose bytes are kept. The oldest is forgotten first.
    package static let mostStreams = 256

    /// The bytes received on one connection that no match has used up.
    private struct Stream: Sendable {
        var bytes: [UInt8] = []
        /// The byte before these, or `nil` at the beginning of the stream.
        var before: UInt8?
        /// The number of bytes already searched for the current expectation.
        var searched = 0
        /// The search for the current expectation, if it is a pattern.
        var matching: PatternStream?

        mutating func drop(_ count: Int) {
            guard count > 0 else { return }
            before = bytes[count - 1]
            bytes.removeFirst(count)
            searched = max(0, searched - count)
        }

        /// Starts the search for the next expectation in all kept bytes.
        mutating func begin() { (searched, matching) = (0, nil) }

        /// Returns the end of the match, or `nil` if there is none.
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

    /// The current expectation, or `nil` if all were met.
    package var current: Expectation? { rest.first }

    /// Returns at most `count` of the last received bytes without a match, for a message.
    package func tail(_ count: Int) -> [UInt8] { Array(streams.last?.stream.bytes.suffix(count) ?? []) }

    /// Searches more bytes of a connection. Returns the number of expectations that they met.
    package mutating func absorb(_ bytes: [UInt8], from id: SocketID) -> Int {
        guard current != nil else { return 0 }
        let index = stream(of: id)
        var rest = bytes[...]
        var met = 0
        // In pieces, so that bytes received at once are searched like bytes received gradually.
        repeat {
            streams[index].stream.bytes += rest.prefix(Self.window)
            rest = rest.dropFirst(Self.window)
            met += search(isWhole: false)
            streams[index].stream.drop(max(0, streams[index].stream.bytes.count - Self.window))
        } while !rest.isEmpty && current != nil
        return met
    }

    /// Searches for the last time, with `$` matching at the end of the streams. Returns the number of expectations met.
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
