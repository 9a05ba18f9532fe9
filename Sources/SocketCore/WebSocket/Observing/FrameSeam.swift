/// Finds the places in one direction of a WebSocket that others speak where another message can go out: after a frame that
/// ends a message, and not between its fragments (RFC 6455, 5.4).
package struct FrameSeam: Sendable {
    private var decoder: FrameDecoder
    private var frame: FrameHeader
    private var isMessageOpen: Bool
    /// Whether no message can follow: a Close went out, or what did is not a frame.
    package private(set) var isOver = false

    /// Goes on from within a stream of frames. `frame` is the header of the last one that began.
    package init(_ decoder: FrameDecoder, frame: FrameHeader, isMessageOpen: Bool) {
        (self.decoder, self.frame, self.isMessageOpen) = (decoder, frame, isMessageOpen)
    }

    /// Whether a message can go out here.
    package var isOpen: Bool { !isOver && !isMessageOpen && decoder.awaiting == .header(done: 0) }

    /// Takes the bytes that go out next, up to the first such place after one of them, and returns how many it took.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) -> Int {
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

    /// Takes all of these bytes, whatever places are within them.
    package mutating func takeAll(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty, !isOver { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(take(rest))) }
    }

    private mutating func endFrame() {
        if frame.opcode == .close { isOver = true }
        if !frame.opcode.isControl { isMessageOpen = !frame.isFinal }
    }
}

extension WebSocketMessage {
    /// The message as one frame, masked with this key; `nil`: not masked, as a server's is.
    package func frame(maskKey: UInt32?) -> [UInt8] {
        var bytes: [UInt8] = []
        let opcode: WebSocketOpcode = type == .text ? .text : .binary
        FrameHeader(opcode: opcode, maskKey: maskKey, length: self.bytes.count).append(to: &bytes, with: self.bytes)
        return bytes
    }
}
