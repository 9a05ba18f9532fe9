/// Bytes that a program has not read yet, inspected without reading them, and the options that only a descriptor gives.
package struct UnreadBytes: Equatable, Sendable {
    /// The first unread bytes. For datagrams, those of the first one.
    package var bytes: [UInt8] = []
    /// The number of unread bytes, as the kernel reported just before.
    package var total: Int64?
    /// Why no bytes were inspected, or `nil` if they were.
    package var reason: String?
    /// The options, or `nil` if there was no descriptor to ask.
    package var options: Options?

    /// Socket options. Each is `nil` if the socket doesn't have it.
    package struct Options: Equatable, Sendable {
        package var noDelay: Bool?
        package var keepAlive: Bool?
        /// SO_RCVLOWAT, in bytes.
        package var lowWater: Int?
        /// SO_LINGER in seconds. Also `nil` if it is off.
        package var linger: Int?
        /// TCP_USER_TIMEOUT, or zero for the system's default.
        package var userTimeout: Duration?

        package init() {}
    }

    package init() {}

    /// Creates a value without bytes or options.
    package init(reason: String) { self.reason = reason }
}

/// The header of a TLS record (RFC 8446, section 5.1), which is sent unencrypted.
package struct TLSRecordHeader: Equatable, Sendable {
    /// 20 change_cipher_spec, 21 alert, 22 handshake, 23 application_data.
    package var kind: UInt8
    /// The length of the record after its header, in bytes.
    package var length: Int

    package static let size = 5
    /// A protected record has up to 256 bytes more than 2^14; TLS 1.2 allows 2,048 more.
    private static let longest = 1 << 14 + 2_048

    /// Returns `nil` if these bytes don't begin with a header.
    package init?(_ bytes: ArraySlice<UInt8>) {
        let header = Array(bytes.prefix(Self.size))
        guard header.count == Self.size, (20...23).contains(header[0]), header[1] == 3, header[2] <= 4 else {
            return nil
        }
        let length = Int(header[3]) << 8 | Int(header[4])
        guard (1...Self.longest).contains(length) else { return nil }
        (kind, self.length) = (header[0], length)
    }

    package var isCiphertext: Bool { kind == 23 }
}
