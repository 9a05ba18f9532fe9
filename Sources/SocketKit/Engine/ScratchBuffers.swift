/// Buffers for bytes in transit, shared by all sockets of an engine, so that an idle connection needs none of its own.
final class ScratchBuffers {
    /// Every receive goes here first.
    let received = ScratchBuffers.make()
    /// For plaintext, if there is TLS.
    private(set) lazy var plain: UnsafeMutableRawBufferPointer = {
        hasPlain = true
        return ScratchBuffers.make()
    }()
    private var hasPlain = false

    deinit {
        received.deallocate()
        if hasPlain { plain.deallocate() }
    }

    private static func make() -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: 65_536, alignment: 16)
    }
}
