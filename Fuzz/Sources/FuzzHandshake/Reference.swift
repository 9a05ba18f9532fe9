/// A head read in the plainest way, to compare with: all of it is there, and nothing is remembered.
struct ReferenceHead {
    enum Verdict {
        case unfinished
        case broken
        case head(ReferenceHead)
    }

    var startLine: String
    /// Names in lower case.
    var fields: [(name: String, value: String)] = []
    /// Its bytes, the empty line included.
    var length: Int

    /// RFC 9112, 2 to 5: what stands at the front of these bytes.
    static func read(_ bytes: [UInt8], limit: Int, takesLoneLineFeeds: Bool = false) -> Verdict {
        var lines: [[UInt8]] = [[]]
        for (index, byte) in bytes.enumerated() {
            let line = lines[lines.count - 1]
            let followsReturn = index > 0 && bytes[index - 1] == 13
            if index >= limit || followsReturn && byte != 10 { return .broken }
            if byte == 10 {
                if !followsReturn, !takesLoneLineFeeds { return .broken }
                if lines.count == 1 ? line.isEmpty : line.first == 32 || line.first == 9 { return .broken }
                if line.isEmpty { return head(lines.dropLast(), length: index + 1) }
                lines.append([])
            } else if byte != 13 {
                if byte < 32 && byte != 9 || byte == 127 { return .broken }
                lines[lines.count - 1].append(byte)
            }
        }
        return .unfinished
    }

    private static func head(_ lines: ArraySlice<[UInt8]>, length: Int) -> Verdict {
        var head = ReferenceHead(startLine: String(decoding: lines[0], as: UTF8.self), length: length)
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: 58), colon > 0, line[..<colon].allSatisfy(isTokenByte) else {
                return .broken
            }
            var value = line[(colon + 1)...]
            while value.first == 32 || value.first == 9 { value.removeFirst() }
            while value.last == 32 || value.last == 9 { value.removeLast() }
            head.fields.append(
                (
                    String(decoding: line[..<colon], as: UTF8.self).lowercased(),
                    String(decoding: value, as: UTF8.self)
                ))
        }
        return .head(head)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        let character = Character(Unicode.Scalar(byte))
        return byte < 128 && (character.isLetter || character.isNumber || "!#$%&'*+-.^_`|~".contains(character))
    }

    /// The values of all fields of that name.
    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// Whether a list names that, in either case.
    func names(_ element: String, in name: String) -> Bool {
        values(name).contains { value in
            value.split(separator: ",").contains { part in
                part.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ").lowercased() == element
            }
        }
    }
}
