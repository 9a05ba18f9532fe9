import CSocketKitZlib

/// Compresses sent messages with permessage-deflate (RFC 7692, 7.2.1).
struct Deflater: ~Copyable {
    /// zlib keeps this pointer, so the stream must not move.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Starts with an empty window of 9 to 15 bits.
    init(level: Int, windowBits: Int) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = cz_deflate_init(stream, CInt(level), CInt(windowBits))
        precondition(status == Z_OK, "deflateInit2 with level \(level), \(windowBits) window bits: \(status)")
    }

    deinit {
        deflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Returns the compressed form of a message or a part of it, flushed so that all of it can be inflated at once. The
    /// last part omits the trailing four bytes 00 00 FF FF.
    mutating func deflate(_ input: [UInt8], isLast: Bool) -> [UInt8] {
        // zlib produces no output for empty input. 7.2.3.6 defines an empty last part.
        guard !input.isEmpty else { return isLast ? [0] : [] }
        var output: [UInt8] = []
        input.withUnsafeBufferPointer { input in
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = UInt32(input.count)
            repeat {
                let wanted = min(max(128, Int(stream.pointee.avail_in) / 2), 1 << 20)
                let status = output.appendFromZlib(stream, wanted) { CSocketKitZlib.deflate($0, Z_SYNC_FLUSH) }
                precondition(status == Z_OK || status == Z_BUF_ERROR, "deflate: \(status)")
            } while stream.pointee.avail_out == 0
        }
        if isLast { output.removeLast(4) }
        return output
    }

    /// Clears the window.
    mutating func reset() {
        deflateReset(stream)
    }
}
