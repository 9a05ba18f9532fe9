import Testing

@testable import SocketCore

@Suite("Places between the messages of others")
struct FrameSeamTests {
    private func frame(_ opcode: WebSocketOpcode, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
        var bytes: [UInt8] = []
        FrameHeader(isFinal: isFinal, opcode: opcode, maskKey: 0x0102_0304, length: payload.count)
            .append(to: &bytes, with: payload)
        return bytes
    }

    private func seam() -> FrameSeam {
        FrameSeam(
            FrameDecoder(role: .server, allowsCompression: true, frameBytes: .max),
            frame: FrameHeader(opcode: .continuation, length: 0), isMessageOpen: false)
    }

    /// The offsets at which a message could go out, when the bytes come in pieces of one size.
    private func places(_ bytes: [UInt8], pieces: Int) -> [Int] {
        var (seam, found, offset) = (seam(), seam().isOpen ? [0] : [], 0)
        while offset < bytes.count {
            let piece = Array(bytes[offset..<min(offset + pieces, bytes.count)])
            let count = piece.withUnsafeBytes { seam.absorb($0) }
            #expect(count > 0 && count <= piece.count)
            offset += count
            if seam.isOpen { found.append(offset) }
        }
        return found
    }

    @Test("after each message, not within one, however the bytes are cut", arguments: [1, 2, 3, 7, 1_000])
    func places(pieces: Int) {
        let whole = frame(.text, Array("hello".utf8))
        let first = frame(.binary, [UInt8](repeating: 7, count: 300), isFinal: false)
        let ping = frame(.ping, [1])
        let last = frame(.continuation, [])
        let bytes = whole + first + ping + last + whole
        let ends = [0, whole.count, bytes.count - whole.count, bytes.count]
        #expect(places(bytes, pieces: pieces) == ends)
        #expect(places(ping + ping, pieces: pieces) == [0, ping.count, 2 * ping.count])
    }

    @Test("nothing follows a Close, or what is not a frame", arguments: [1, 1_000])
    func over(pieces: Int) {
        #expect(places(frame(.close, [3, 232]) + frame(.text, [1]), pieces: pieces) == [0])
        #expect(places([0xFF, 0xFF] + frame(.text, [1]), pieces: pieces) == [0])
    }

    @Test("a message of ours is one frame, masked or not")
    func frames() {
        let message = WebSocketMessage.text("hi")
        #expect(message.frame(maskKey: nil) == [0x81, 2, 0x68, 0x69])
        let masked = message.frame(maskKey: 0)
        #expect(masked == [0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69])
        #expect(WebSocketMessage.binary([1]).frame(maskKey: nil) == [0x82, 1, 1])
    }
}
