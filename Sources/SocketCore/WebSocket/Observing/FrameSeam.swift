/// Finds where another message can be inserted into one direction of a WebSocket between other parties: after a frame
/// that ends a message, but not between its fragments (RFC 6455, 5.4).
package struct FrameSeam: Sendable {
    private var decoder: FrameDecoder
    private var frame: FrameHeader
    private var isMessageOpen: Bool
    /// Whether no message can follow, because a Close or invalid bytes were sent.
    package private(set) var isOver = false

    /// Starts in the middle of a stream of frames. `frame` is the header of the last frame begun.
    package init(_ decoder: FrameDecoder, frame: FrameHeader, isMessageOpen: Bool) {
        (self.decoder, self.frame, self.isMessageOpen) = (decoder, frame, isMessageOpen)
    }

    /// Whether a message can be inserted here.
    package var isOpen: Bool { !isOver && !isMessageOpen && decoder.awaiting == .header(done: 0) }

    /// Absorbs the next bytes to be sent, up to the first position where a message can be inserted. Returns the number
    /// taken.
    package mutating func absorb(_ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = 0
        while offset < bytes.count, !isOver {
            do throws(WebSocketFailure) {
                switch try decoder.next(bytes, &offset) {
                case .wait: return bytes.count
                case .header(let header):
                    frame = header
                    if header.length == 0 { endFrame() }
                case .payload(_, _, let isLast): if isLast { endFrame() }
                }
            } catch {
                isOver = true
            }
            if isOpen { return offset }
        }
        return bytes.count
    }

    /// Absorbs all of these bytes, regardless of such positions within them.
    package mutating func absorbAll(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty, !isOver { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(absorb(rest))) }
    }

    private mutating func endFrame() {
        if frame.opcode == .close { isOver = true }
        if !frame.opcode.isControl { isMessageOpen = !frame.isFinal }
    }
}

extension WebSocketMessage {
    /// Returns the message as one frame, masked with `maskKey`, or unmasked, as a server's is, if the key is `nil`.
    package func frame(maskKey: UInt32?) -> [UInt8] {
        var bytes: [UInt8] = []
        let opcode: WebSocketOpcode = type == .text ? .text : .binary
        FrameHeader(opcode: opcode, maskKey: maskKey, length: self.bytes.count).append(to: &bytes, with: self.bytes)
        return bytes
    }
}
