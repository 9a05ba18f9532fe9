/// An HTTP request, parsed into the parts needed to send it again.
package struct RecordedRequest: Equatable, Sendable {
    package var method: String
    package var target: [UInt8]
    package var version: String
    package var fields: [(name: String, value: [UInt8])]
    package var body: [UInt8]
    package var isChunked = false
    /// The number of bytes that were parsed.
    package private(set) var length = 0

    private static let head = Array("\r\n\r\n".utf8)

    /// Parses bytes that are requests, one after the other, and nothing else.
    /// - Throws: why they are not.
    package static func all(_ bytes: [UInt8]) throws(ExportProblem) -> [RecordedRequest] {
        var requests: [RecordedRequest] = []
        var rest = bytes[...]
        repeat {
            do throws(ExportProblem) {
                let request = try RecordedRequest(rest)
                rest = rest.dropFirst(request.length)
                requests.append(request)
            } catch {
                guard requests.isEmpty else {
                    throw ExportProblem(
                        "what follows its request \(requests.count) cannot be resent: \(error.sentence)")
                }
                throw error
            }
        } while !rest.isEmpty
        return requests
    }

    /// Parses the request that bytes begin with.
    /// - Throws: why they do not begin with one.
    package init(_ bytes: ArraySlice<UInt8>) throws(ExportProblem) {
        guard let end = bytes.firstRange(of: Self.head) else {
            throw ExportProblem(bytes.isEmpty ? "its client sent nothing" : "it is not HTTP/1: no complete header")
        }
        var lines = Self.lines(bytes[..<end.lowerBound])
        let words = (lines.isEmpty ? [] : lines.removeFirst()).split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3, let method = Self.token(words[0]), !words[1].isEmpty,
            words[2].elementsEqual("HTTP/1.0".utf8) || words[2].elementsEqual("HTTP/1.1".utf8)
        else { throw ExportProblem("it does not begin with an HTTP/1 request") }
        (self.method, target, version) = (method, Array(words[1]), String(decoding: words[2], as: UTF8.self))
        fields = []
        for line in lines {
            guard let colon = line.firstIndex(of: 0x3A), let name = Self.token(line[..<colon]) else {
                throw ExportProblem("a line of its header is not a field")
            }
            fields.append((name, Self.trimmed(line[(colon + 1)...])))
        }
        body = []
        length = end.upperBound - bytes.startIndex + (try readBody(bytes[end.upperBound...]))
    }

    /// Returns the values of a field, without regard to the case of its name.
    package func values(of name: String) -> [[UInt8]] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    private mutating func readBody(_ rest: ArraySlice<UInt8>) throws(ExportProblem) -> Int {
        if let coding = values(of: "Transfer-Encoding").last {
            guard String(decoding: coding, as: UTF8.self).lowercased() == "chunked" else {
                throw ExportProblem("its body has a transfer coding other than chunked")
            }
            isChunked = true
            return try readChunks(rest)
        }
        guard let text = values(of: "Content-Length").first else { return 0 }
        guard let length = Int(String(decoding: text, as: UTF8.self)), length >= 0, length <= rest.count else {
            throw ExportProblem("its body is incomplete")
        }
        body = Array(rest.prefix(length))
        return length
    }

    private mutating func readChunks(_ rest: ArraySlice<UInt8>) throws(ExportProblem) -> Int {
        let problem = ExportProblem("its chunked body is incomplete")
        var place = rest
        while let end = place.firstRange(of: [0x0D, 0x0A]) {
            let digits = place[..<end.lowerBound].prefix { $0 != 0x3B }
            guard let size = Int(String(decoding: Self.trimmed(digits), as: UTF8.self), radix: 16), size >= 0 else {
                throw problem
            }
            place = place[end.upperBound...]
            guard size <= place.count - 2 else { throw problem }
            body += place.prefix(size)
            place = place.dropFirst(size)
            guard place.starts(with: [0x0D, 0x0A]) else { throw ExportProblem("its body has a trailer") }
            place = place.dropFirst(2)
            if size == 0 { return rest.count - place.count }
        }
        throw problem
    }

    private static func lines(_ head: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var rest = head
        while let end = rest.firstRange(of: [0x0D, 0x0A]) {
            lines.append(rest[..<end.lowerBound])
            rest = rest[end.upperBound...]
        }
        return lines + [rest]
    }

    /// Returns a token as RFC 9110 defines it, or `nil` if it is not one.
    private static func token(_ bytes: ArraySlice<UInt8>) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        let marks = Set("!#$%&'*+-.^_`|~".utf8)
        let isToken = bytes.allSatisfy { byte in
            marks.contains(byte) || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x61...0x7A).contains(byte)
        }
        return isToken && !text.isEmpty ? text : nil
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return Array(bytes)
    }

    package static func == (left: RecordedRequest, right: RecordedRequest) -> Bool {
        left.method == right.method && left.target == right.target && left.body == right.body
            && left.fields.elementsEqual(right.fields) { $0 == $1 }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(target) }
}

extension RandomAccessCollection where Element == UInt8, Index == Int {
    /// Returns the first occurrence of other bytes.
    fileprivate func firstRange(of other: [UInt8]) -> Range<Int>? {
        guard count >= other.count else { return nil }
        for start in startIndex...(endIndex - other.count) where self[start] == other[0] {
            if self[start..<(start + other.count)].elementsEqual(other) { return start..<(start + other.count) }
        }
        return nil
    }
}
