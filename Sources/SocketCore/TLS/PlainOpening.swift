/// What a peer sends that does not speak TLS, as a reason for the user.
package enum PlainOpening {
    /// The most bytes to keep.
    package static let limit = 40

    /// Returns what the peer said instead of TLS, or `nil` if its first bytes begin a TLS record, or are too few to say.
    /// The first line is enough to recognize HTTP, SSH or SMTP.
    package static func sentence(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= headLength, !beginsRecord(bytes) else { return nil }
        let line = bytes.prefix(limit).prefix { $0 != 0x0D && $0 != 0x0A }
        return "the peer does not speak TLS: it sent \"\(EscapedText.show(line))\""
    }

    /// The length of a record's head: type, version and length (RFC 8446, 5.1).
    private static let headLength = 5

    private static func beginsRecord(_ bytes: [UInt8]) -> Bool {
        (20...24).contains(bytes[0]) && bytes[1] == 3
    }
}
