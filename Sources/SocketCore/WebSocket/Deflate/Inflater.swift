import CSocketKitZlib

/// Inflates permessage-deflate messages (RFC 7692, 7.2.2) within a limit.
struct Inflater: ~Copyable {
    /// zlib keeps this pointer, so the stream must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether a block marked as the stream's last has ended and nothing followed it.
    private var isBehindLastBlock = false

    /// Starts with an empty window. zlib's minimum of 9 bits also serves a sender that uses 8.
    init(windowBits: Int) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = cz_inflate_init(stream, CInt(max(9, windowBits)))
        precondition(status == Z_OK, "inflateInit2 with \(windowBits) window bits: \(status)")
    }

    deinit {
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Appends the inflated input. Throws `corruptDeflate`, or `messageTooBig` with `limit` once there would be more
    /// than `room` bytes. At most one byte more than `room` is produced.
    mutating func inflate(
        _ input: UnsafeRawBufferPointer, into output: inout [UInt8], room: Int, limit: Int
    ) throws(WebSocketFailure) {
        guard let start = input.bindMemory(to: UInt8.self).baseAddress, input.count > 0 else { return }
        isBehindLastBlock = false
        let most = output.count + min(room, .max - output.count - 1)
        stream.pointee.next_in = UnsafeMutablePointer(mutating: start)
        stream.pointee.avail_in = UInt32(input.count)
        repeat {
            let status = step(&output, most: most)
            // zlib reads on past the last byte there is room for, up to where the next one would begin.
            if output.count > most { throw .messageTooBig(limit: limit) }
            switch status {
            case Z_OK, Z_BUF_ERROR: break
            case Z_STREAM_END:
                // A sender can mark a block as the last one (7.2.3.4). The next block begins another stream with the
                // same window.
                inflateResetKeep(stream)
                isBehindLastBlock = stream.pointee.avail_in == 0
            default: throw .corruptDeflate
            }
        } while stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0
    }

    /// Ends a message: restores the four bytes that the sender omitted, and checks that the last block is complete.
    mutating func finish(into output: inout [UInt8], room: Int, limit: Int) throws(WebSocketFailure) {
        // A sender that ends the message with a last block has omitted nothing.
        guard !isBehindLastBlock else { return }
        let tail: [UInt8] = [0, 0, 0xFF, 0xFF]
        try tail.withUnsafeBufferPointer { tail throws(WebSocketFailure) in
            try inflate(UnsafeRawBufferPointer(tail), into: &output, room: room, limit: limit)
        }
        guard stream.pointee.data_type & Self.endOfBlock != 0 else { throw .corruptDeflate }
    }

    /// Clears the window.
    mutating func reset() {
        inflateReset(stream)
        isBehindLastBlock = false
    }

    /// The flag in zlib's `data_type` for a block that has just ended.
    private static let endOfBlock: CInt = 128

    private mutating func step(_ output: inout [UInt8], most: Int) -> CInt {
        let guess = min(max(256, Int(stream.pointee.avail_in) * 4, output.count), 1 << 16)
        let wanted = min(guess, most - output.count + 1)
        return output.appendFromZlib(stream, wanted) { CSocketKitZlib.inflate($0, Z_SYNC_FLUSH) }
    }
}

extension [UInt8] {
    /// Lets zlib append at most `count` bytes.
    mutating func appendFromZlib(
        _ stream: UnsafeMutablePointer<z_stream>, _ count: Int, _ run: (UnsafeMutablePointer<z_stream>) -> CInt
    ) -> CInt {
        makeRoom(for: count)
        var status = Z_OK
        append(addingCapacity: count) { span in
            span.withUnsafeMutableBufferPointer { buffer, initialized in
                stream.pointee.next_out = buffer.baseAddress.map { $0 + initialized }
                stream.pointee.avail_out = UInt32(count)
                status = run(stream)
                initialized += count - Int(stream.pointee.avail_out)
            }
        }
        return status
    }
}
