import SocketCore
import SocketWorkshop

/// Bytes as rows of hex and text, for comparing two answers by eye.
enum ByteTable {
    /// Returns the labeled rows of an excerpt. The row that contains `place` has a mark, and the byte is in brackets.
    static func rows(_ excerpt: ByteExcerpt, place: Int, label: String) -> [String] {
        let row = ByteExcerpt.row
        let end = excerpt.start + excerpt.bytes.count
        guard !excerpt.bytes.isEmpty, place <= end else { return ["  \(label)  nothing"] }
        // If the stream ends at the place, the brackets mark the end.
        return stride(from: excerpt.start, through: max(place, end - 1), by: row).map { start in
            let bytes = excerpt.bytes.dropFirst(start - excerpt.start).prefix(row)
            var hex = ""
            var text = ""
            for index in 0..<row {
                let offset = start + index
                let byte = index < bytes.count ? bytes[bytes.startIndex + index] : nil
                hex += offset == place ? "[" : offset == place + 1 ? "]" : " "
                hex += byte.map(pair) ?? "  "
                if let byte { text += (0x20..<0x7F).contains(byte) ? String(Unicode.Scalar(byte)) : "." }
            }
            hex += start + row - 1 == place ? "]" : " "
            return "  \(label)  \(offset(start)) \(hex) \(text)"
        }
    }

    /// Returns one byte in words: `68 'h'`.
    static func word(_ byte: UInt8) -> String { "\(pair(byte)) '\(EscapedText.show(byte))'" }

    private static func pair(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    private static func offset(_ number: Int) -> String {
        let text = String(number)
        return String(repeating: " ", count: max(0, 7 - text.count)) + text
    }
}

extension AnswerDifference {
    /// Returns the difference as a sentence, and both sides. `first` names what is compared with.
    func lines(_ first: String) -> [String] {
        let width = max(first.count, 6)
        func label(_ text: String) -> String { text + String(repeating: " ", count: width - text.count) }
        return [sentence(first)]
            + ByteTable.rows(expected, place: expectedOffset, label: label(first))
            + ByteTable.rows(received, place: offset, label: label("server"))
    }

    private func sentence(_ first: String) -> String {
        let place =
            offset == expectedOffset ? "at byte \(offset)" : "at byte \(offset) (\(expectedOffset) of the \(first))"
        let (old, new) = (byte(of: expected, expectedOffset), byte(of: received, offset))
        switch kind {
        case .bytes:
            return "\(place): the \(first) has \(old.map(ByteTable.word) ?? "-"), the server sent "
                + (new.map(ByteTable.word) ?? "-")
        case .missing:
            return "\(place): the server sent no more; the \(first) continues with \(old.map(ByteTable.word) ?? "-")"
        case .extra: return "\(place): the \(first) ends, the server sent \(new.map(ByteTable.word) ?? "-")"
        }
    }

    private func byte(of excerpt: ByteExcerpt, _ place: Int) -> UInt8? {
        let index = place - excerpt.start
        return excerpt.bytes.indices.contains(index) ? excerpt.bytes[index] : nil
    }

    var json: JSON {
        [
            "kind": JSON(kind.rawValue), "offset": JSON(offset), "expected_offset": JSON(expectedOffset),
            "expected": expected.json, "received": received.json,
        ]
    }
}

extension ByteExcerpt {
    fileprivate var json: JSON {
        ["start": JSON(start), "text": JSON(bytes: bytes), "base64": JSON(Base64.text(bytes))]
    }
}
