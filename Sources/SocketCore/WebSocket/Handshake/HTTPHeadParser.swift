/// Why a head can't be parsed: a sentence for the user, and whether its length is the only problem.
package struct HTTPHeadFault: Error, Equatable, Sendable {
    package var problem: String
    package var isTooLong = false

    package init(problem: String, isTooLong: Bool = false) {
        (self.problem, self.isTooLong) = (problem, isTooLong)
    }
}

/// Collects a head, however it is fragmented, up to a limit.
///
/// It is strict, because input that two programs read differently enables request smuggling (RFC 9112, 11.2). A line
/// that continues the previous one (5.2, obs-fold), white space before a colon (5.1), a lone carriage return or line
/// feed, NUL and other control characters fail at the invalid byte.
package struct HTTPHeadParser: Equatable, Sendable {
    /// The result of the bytes so far.
    package enum Step: Equatable, Sendable {
        /// More bytes are needed.
        case wait
        /// The head is complete. `taken` of the last bytes belong to it.
        case head(HTTPHead, taken: Int)
        /// The head is invalid. The parser must not be used after that.
        case failed(HTTPHeadFault)
    }

    private let limit: Int
    /// Whether a lone line feed ends a line, which RFC 9112, 2.2 allows a recipient to accept.
    private let takesLoneLineFeeds: Bool
    private var gathered: [UInt8] = []
    /// Where the current line begins.
    private var lineStart = 0

    package init(limit: Int, takesLoneLineFeeds: Bool = false) {
        self.limit = limit
        self.takesLoneLineFeeds = takesLoneLineFeeds
    }

    /// The number of bytes received of an incomplete head.
    package var count: Int { gathered.count }

    package mutating func receive(_ bytes: RawSpan) -> Step {
        bytes.withUnsafeBytes { bytes in
            for (index, byte) in bytes.enumerated() {
                do throws(HTTPHeadFault) {
                    guard try accept(byte) else { continue }
                    return .head(try head(), taken: index + 1)
                } catch {
                    gathered = []
                    return .failed(error)
                }
            }
            return .wait
        }
    }

    /// Accepts one byte. Returns `true` if it ended the empty line.
    private mutating func accept(_ byte: UInt8) throws(HTTPHeadFault) -> Bool {
        guard gathered.count < limit else {
            throw HTTPHeadFault(problem: "the head is longer than \(limit) bytes", isTooLong: true)
        }
        let followsReturn = gathered.last == 13
        if followsReturn, byte != 10 { throw HTTPHeadFault(problem: "the head has a bare carriage return") }
        gathered.append(byte)
        switch byte {
        case 10:
            guard followsReturn || takesLoneLineFeeds else {
                throw HTTPHeadFault(problem: "the head has a bare line feed")
            }
            return try endLine(followsReturn ? 2 : 1)
        case 13, 9, 0x20...0x7E, 0x80...0xFF: return false
        default: throw HTTPHeadFault(problem: "the head contains the control character \(byte)")
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

    /// Splits the collected bytes into lines.
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
            throw HTTPHeadFault(problem: "\(HTTPText.shown(line[..<colon])) is not a field name")
        }
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 9 }
        let value = line[(colon + 1)...].drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return HTTPField(String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
    }
}

/// Formatting of the peer's bytes within a sentence.
enum HTTPText {
    /// Returns the first 40 bytes in quotes, with a question mark for each byte that is not printable ASCII.
    static func shown(_ bytes: some Sequence<UInt8>) -> String {
        let start = bytes.prefix(41).map { (0x20...0x7E).contains($0) ? Character(Unicode.Scalar($0)) : "?" }
        return "\"" + String(start.prefix(40)) + (start.count > 40 ? "..." : "") + "\""
    }
}
