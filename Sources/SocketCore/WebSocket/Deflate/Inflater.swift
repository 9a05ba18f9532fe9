import CSocketKitZlib

/// Undoes permessage-deflate (RFC 7692, 7.2.2), and never makes more bytes than it is allowed.
struct Inflater: ~Copyable {
    /// zlib keeps the address of it.
    private let stream: UnsafeMutablePointer<z_stream>
    /// A block marked as the stream's last has ended, and nothing came behind it.
    private var isBehindLastBlock = false

    /// Begins with an empty window. zlib inflates with at least 9 bits, which serves a sender that uses 8.
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

    /// Appends what the input inflates to. It throws `corruptDeflate`, or `messageTooBig` with `limit` as soon as there
    /// would be more than `room` bytes, of which one is made at most.
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
            // Behind the last byte that there is room for, zlib reads on to where the next would begin.
            if output.count > most { throw .messageTooBig(limit: limit) }
            switch status {
            case Z_OK, Z_BUF_ERROR: break
            case Z_STREAM_END:
                // A sender may mark a block as the last (7.2.3.4); the next begins another stream with the same window.
                inflateResetKeep(stream)
                isBehindLastBlock = stream.pointee.avail_in == 0
            default: throw .corruptDeflate
            }
        } while stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0
    }

    /// Ends a message: puts back the four bytes that its sender took away, and checks that its last block is over.
    mutating func finish(into output: inout [UInt8], room: Int, limit: Int) throws(WebSocketFailure) {
        // A sender that leaves the message at its last block has taken nothing away.
        guard !isBehindLastBlock else { return }
        let tail: [UInt8] = [0, 0, 0xFF, 0xFF]
        try tail.withUnsafeBufferPointer { tail throws(WebSocketFailure) in
            try inflate(UnsafeRawBufferPointer(tail), into: &output, room: room, limit: limit)
        }
        guard stream.pointee.data_type & Self.endOfBlock != 0 else { throw .corruptDeflate }
    }

    /// Forgets the window.
    mutating func reset() {
        inflateReset(stream)
        isBehindLastBlock = false
    }

    /// In zlib's `data_type`: a block has just ended.
    private static let endOfBlock: CInt = 128

    private mutating func step(_ output: inout [UInt8], most: Int) -> CInt {
        let guess = min(max(256, Int(stream.pointee.avail_in) * 4, output.count), 1 << 16)
        let wanted = min(guess, most - output.count + 1)
        return output.appendFromZlib(stream, wanted) { CSocketKitZlib.inflate($0, Z_SYNC_FLUSH) }
    }
}

extension [UInt8] {
    /// Lets zlib write at most `count` bytes behind the last.
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
