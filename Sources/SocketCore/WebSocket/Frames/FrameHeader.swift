/// A frame's header (RFC 6455, 5.2).
package struct FrameHeader: Equatable, Sendable {
    /// FIN: whether the frame is the last of its message.
    package var isFinal: Bool
    /// RSV1 to RSV3 as 4, 2, 1.
    package var reserved: UInt8
    package var opcode: WebSocketOpcode
    /// The four bytes of the masking key in memory order, or `nil` if the frame is not masked.
    package var maskKey: UInt32?
    /// The payload's length in bytes.
    package var length: Int

    /// The longest header: 2 bytes, an 8-byte length and a 4-byte mask.
    package static let longest = 14

    package init(
        isFinal: Bool = true, reserved: UInt8 = 0, opcode: WebSocketOpcode, maskKey: UInt32? = nil, length: Int
    ) {
        self.isFinal = isFinal
        self.reserved = reserved
        self.opcode = opcode
        self.maskKey = maskKey
        self.length = length
    }

    /// RSV1: whether the frame begins a compressed message (RFC 7692, 6).
    package var isCompressed: Bool { reserved & 4 != 0 }

    /// The header's length in bytes.
    package var count: Int {
        2 + (length < 126 ? 0 : length < 65_536 ? 2 : 8) + (maskKey == nil ? 0 : 4)
    }

    /// Appends the header in its shortest form, as 5.2 requires, followed by `payload`, masked if there is a key. The
    /// payload can be shorter than the header's length. The caller then appends the rest separately.
    package func append(to bytes: inout [UInt8], with payload: [UInt8] = []) {
        let count = count
        bytes.append(addingCapacity: count + payload.count) { span in
            span.withUnsafeMutableBufferPointer { buffer, initialized in
                guard let start = buffer.baseAddress else { return }
                let target = UnsafeMutableRawPointer(start + initialized)
                write(to: target)
                payload.withUnsafeBytes { payload in
                    guard let source = payload.baseAddress else { return }
                    if let maskKey {
                        Masking.copy(from: source, to: target + count, count: payload.count, key: maskKey)
                    } else {
                        (target + count).copyMemory(from: source, byteCount: payload.count)
                    }
                }
                initialized += count + payload.count
            }
        }
    }

    private func write(to target: UnsafeMutableRawPointer) {
        let mask: UInt8 = maskKey == nil ? 0 : 0x80
        var end = 2
        target.storeBytes(of: (isFinal ? 0x80 : 0) | reserved << 4 | opcode.rawValue, as: UInt8.self)
        if length < 126 {
            target.storeBytes(of: mask | UInt8(truncatingIfNeeded: length), toByteOffset: 1, as: UInt8.self)
        } else if length < 65_536 {
            target.storeBytes(of: mask | 126, toByteOffset: 1, as: UInt8.self)
            target.storeBytes(of: UInt16(length).bigEndian, toByteOffset: 2, as: UInt16.self)
            end = 4
        } else {
            target.storeBytes(of: mask | 127, toByteOffset: 1, as: UInt8.self)
            target.storeBytes(of: UInt64(length).bigEndian, toByteOffset: 2, as: UInt64.self)
            end = 10
        }
        if let maskKey { target.storeBytes(of: maskKey, toByteOffset: end, as: UInt32.self) }
    }
}

/// The checks of a header's bytes, each made as soon as the byte arrives.
package struct FrameRules: Sendable {
    /// Whether frames must be masked. If not, they must be unmasked (5.1).
    var expectsMask: Bool
    /// Whether permessage-deflate allows RSV1.
    var allowsCompression: Bool
    /// The longest frame allowed.
    var frameBytes: Int

    package init(expectsMask: Bool, allowsCompression: Bool, frameBytes: Int) {
        self.expectsMask = expectsMask
        self.allowsCompression = allowsCompression
        self.frameBytes = frameBytes
    }

    /// Checks FIN, RSV and the opcode, and returns the opcode.
    package func check(first byte: UInt8) throws(WebSocketFailure) -> WebSocketOpcode {
        guard let opcode = WebSocketOpcode(rawValue: byte & 0xF) else { throw .unknownOpcode(byte & 0xF) }
        let reserved = byte >> 4 & 7
        // RSV1 is valid only in the first frame of a message (RFC 7692, 6.1), and never in a control frame.
        let allowed: UInt8 = allowsCompression && (opcode == .text || opcode == .binary) ? 4 : 0
        guard reserved & ~allowed == 0 else { throw .reservedBits(reserved & ~allowed) }
        guard byte & 0x80 != 0 || !opcode.isControl else { throw .fragmentedControl(opcode) }
        return opcode
    }

    /// Checks the mask bit and the 7-bit length, and returns the length of the whole header.
    package func check(second byte: UInt8, of opcode: WebSocketOpcode) throws(WebSocketFailure) -> Int {
        guard (byte & 0x80 != 0) == expectsMask else { throw expectsMask ? .unmaskedFrame : .maskedFrame }
        let short = byte & 0x7F
        guard short < 126 || !opcode.isControl else { throw .controlTooLong(short) }
        return 2 + (short < 126 ? 0 : short == 126 ? 2 : 8) + (expectsMask ? 4 : 0)
    }

    /// Parses a complete header whose first two bytes are checked, and checks its length.
    package func header(at start: UnsafeRawPointer, opcode: WebSocketOpcode) throws(WebSocketFailure) -> FrameHeader {
        let first = start.load(as: UInt8.self)
        let short = start.load(fromByteOffset: 1, as: UInt8.self) & 0x7F
        var length = UInt64(short)
        var end = 2
        if short == 126 {
            length = UInt64(UInt16(bigEndian: start.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
            end = 4
            guard length >= 126 else { throw .overlongLength(length) }
        } else if short == 127 {
            length = UInt64(bigEndian: start.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
            end = 10
            guard length >> 63 == 0 else { throw .impossibleLength(length) }
            guard length >= 65_536 else { throw .overlongLength(length) }
        }
        guard length <= UInt64(frameBytes) else { throw .frameTooBig(length: length, limit: frameBytes) }
        let key = expectsMask ? start.loadUnaligned(fromByteOffset: end, as: UInt32.self) : nil
        return FrameHeader(
            isFinal: first & 0x80 != 0, reserved: first >> 4 & 7, opcode: opcode, maskKey: key, length: Int(length))
    }
}
