import Dispatch
import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Statements 56 to 58: many bytes, many reads, and none.
@Suite(.timeLimit(.minutes(10))) struct StreamStatements {
    @Test func statement056_aLongStreamArrivesByteForByteInBoundedMemory() throws {
        let stream = Stream(chunks: 100, of: 1_000_000)
        let pair = try ConnectedPair()
        pair.socket.delegate = stream
        let peer = pair.peer
        DispatchQueue(label: "peer").async { @Sendable in stream.send(to: peer) }
        stream.next(of: pair.socket)
        #expect(eventually(within: .seconds(120)) { stream.isComplete || stream.fault != nil })
        #expect(stream.fault == nil)
        #expect(pair.picture?.received == 100_000_000 && pair.picture?.prebuffered == 0)
    }

    @Test func statement057_aHundredThousandReadsAgainstBufferedBytesAllComplete() throws {
        let pair = try ConnectedPair(.unix)
        let reads = 100_000
        for tag in 0..<reads { pair.socket.read(ReadRequest(.delimiter([10], limit: 8), tag: tag)) }
        try pair.peerSends([UInt8](repeating: 10, count: reads))
        #expect(eventually(within: .seconds(120)) { pair.picture?.reading.completed == UInt64(reads) })
        pair.engine.fence()
        // A failure shall not print them all.
        let isInOrder = pair.recorder.calls == [.connected] + (0..<reads).map { .read([10], tag: $0) }
        #expect(isInOrder)
    }

    @Test func statement058_withoutAReadTheKernelKeepsTheBytesTheSenderWaitsAndTheEngineRests() throws {
        let pair = try ConnectedPair()
        let block = [UInt8](repeating: 1, count: 65_536)
        var sent = 0
        // The sender is refused for good once both kernel buffers are full.
        #expect(
            eventually {
                let before = sent
                while case let count = send(pair.peer, block, block.count, Int32(MSG_DONTWAIT)), count > 0 {
                    sent += count
                }
                return sent > 0 && sent == before
            })
        #expect(eventually { pair.picture?.flags.contains(.readSourceSuspended) == true })
        #expect(pair.picture?.received == 0 && pair.recorder.calls == [.connected])
        // Each picture is a turn; one more would be spinning.
        let turns = { pair.engine.snapshot().counters.turns }
        #expect(eventually { turns() + 1 == turns() })
        pair.socket.read(ReadRequest(.length(sent), tag: 1))
        #expect(eventually { pair.recorder.received.count == sent })
    }
}

/// The receiver of a long stream, one chunk at a time, and what its peer sends.
private final class Stream: AsyncSocketDelegate {
    private let chunks: Int
    private let chunk: [UInt8]
    private let state = Lock<(received: Int, fault: String?)>((0, nil))

    init(chunks: Int, of length: Int) {
        self.chunks = chunks
        // 251 is prime, so no buffer size repeats in step with it.
        chunk = (0..<length).map { UInt8($0 % 251) }
    }

    var isComplete: Bool { state.withLock { $0.received == chunks } }
    var fault: String? { state.withLock { $0.fault } }

    func send(to descriptor: Int32) {
        for _ in 0..<chunks {
            var sent = 0
            while sent < chunk.count {
                let count = chunk[sent...].withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                sent += count
            }
        }
    }

    func next(of socket: AsyncSocket) { socket.read(ReadRequest(.length(chunk.count))) }

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        let prebuffered = socket.engine.picture(of: socket.session)?.prebuffered
        let more = state.withLock { state in
            state.received += 1
            if bytes != chunk { state.fault = "chunk \(state.received) differs" }
            if prebuffered != 0 { state.fault = "\(prebuffered ?? -1) bytes were read ahead" }
            return state.received < chunks && state.fault == nil
        }
        if more { next(of: socket) }
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        state.withLock { $0.fault = "\(error.map(\.description) ?? "closed")" }
    }
}
