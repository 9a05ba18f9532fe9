/// Why a head cannot be read: a sentence for a person, and whether its length alone is at fault.
package struct HTTPHeadFault: Error, Hashable, Sendable {
    package var problem: String
    package var isTooLong = false
}

/// Gathers a head, however it is cut, and holds no more of it than its limit.
///
/// It is strict, since whatever two programs read differently is an opening for request smuggling (RFC 9112, 11.2): a
/// line that continues the one before it (5.2, obs-fold), white space before a colon (5.1), a carriage return or line
/// feed that stands alone, NUL and other control characters end it at the byte that is wrong.
package struct HTTPHeadParser: Hashable, Sendable {
    /// What has come of the bytes so far.
    package enum Step: Hashable, Sendable {
        /// Nothing yet.
        case wait
        /// The head is whole; `taken` of the bytes just given belong to it, the rest is what follows it.
        case head(HTTPHead, taken: Int)
        /// It is none. Not to be fed any more.
        case failed(HTTPHeadFault)
    }

    private let limit: Int
    /// Whether a line feed alone ends a line, as RFC 9112, 2.2 allows a recipient to see it.
    private let takesLoneLineFeeds: Bool
    private var gathered: [UInt8] = []
    /// Where the line in hand begins.
    private var lineStart = 0

    package init(limit: Int, takesLoneLineFeeds: Bool = false) {
        self.limit = limit
        self.takesLoneLineFeeds = takesLoneLineFeeds
    }

    /// How many bytes of an unfinished head have come.
    package var count: Int { gathered.count }

    package mutating func receive(_ bytes: RawSpan) -> Step {
        bytes.withUnsafeBytes { bytes in
            for (index, byte) in bytes.enumerated() {
                do throws(HTTPHeadFault) {
                    guard try take(byte) else { continue }
                    return .head(try head(), taken: index + 1)
                } catch {
                    gathered = []
                    return .failed(error)
                }
            }
            return .wait
        }
    }

    /// Takes one byte; true when it ended the empty line.
    private mutating func take(_ byte: UInt8) throws(HTTPHeadFault) -> Bool {
        guard gathered.count < limit else {
            throw HTTPHeadFault(problem: "the head is longer than \(limit) bytes", isTooLong: true)
        }
        let followsReturn = gathered.last == 13
        if followsReturn, byte != 10 { throw HTTPHeadFault(problem: "a carriage return stands alone in the head") }
        gathered.append(byte)
        switch byte {
        case 10:
            guard followsReturn || takesLoneLineFeeds else {
                throw HTTPHeadFault(problem: "a line feed stands alone in the head")
            }
            return try endLine(followsReturn ? 2 : 1)
        case 13, 9, 0x20...0x7E, 0x80...0xFF: return false
        default: throw HTTPHeadFault(problem: "the head holds the control character \(byte)")
        }
    }

    private mutating func endLine(_ ending: Int) throws(HTTPHeadFault) -> Bool {
        let isEmpty = gathered.count - lineStart == ending
        if isEmpty, lineStart == 0 { throw HTTPHeadFault(problem: "the head begins with an empty line") }
        let first = gathered[lineStart]
        if lineStart > 0, first == 0x20 || first == 9 {
            throw HTTPHeadFault(problem: "a line of the head continues the one before it")
        }
        lineStart = gathered.count
        return isEmpty
    }

    /// Cuts what was gathered into its lines.
    private func head() throws(HTTPHeadFault) -> HTTPHead {
        var lines = gathered.split(separator: 10, omittingEmptySubsequences: false)
        lines.removeLast(2)
        lines = lines.map { $0.last == 13 ? $0.dropLast() : $0 }
        var head = HTTPHead(startLine: String(decoding: lines[0], as: UTF8.self))
        for line in lines.dropFirst() { head.fields.append(try field(line)) }
        return head
    }

    private func field(_ line: ArraySlice<UInt8>) throws(HTTPHeadFault) -> HTTPField {
        guard let colon = line.firstIndex(of: 0x3A) else {
            throw HTTPHeadFault(problem: "a line of the head has no colon: \(HTTPText.shown(line))")
        }
        guard colon > line.startIndex, line[..<colon].allSatisfy(HTTPGrammar.isTokenByte) else {
            throw HTTPHeadFault(problem: "\(HTTPText.shown(line[..<colon])) is no name of a field")
        }
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 9 }
        let value = line[(colon + 1)...].drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return HTTPField(String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
    }
}

/// Bytes of a peer in a sentence.
enum HTTPText {
    /// The first 40 of them, in quotes; what is not printable ASCII as a question mark.
    static func shown(_ bytes: some Sequence<UInt8>) -> String {
        let start = bytes.prefix(41).map { (0x20...0x7E).contains($0) ? Character(Unicode.Scalar($0)) : "?" }
        return "\"" + String(start.prefix(40)) + (start.count > 40 ? "..." : "") + "\""
    }
}
