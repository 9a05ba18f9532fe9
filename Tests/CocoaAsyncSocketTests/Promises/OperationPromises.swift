import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport
import Testing

/// What GCDAsyncSocket.h promises in words of reads and writes.
@Suite("Promises of GCDAsyncSocket about reads and writes", .timeLimit(.minutes(10))) struct OperationPromises {
    private let pair: RawPair
    private var socket: GCDAsyncSocket { pair.socket }
    private var log: StreamLog { pair.log }

    init() throws { pair = try RawPair() }

    @Test("reads of different kinds complete in their order, even out of one segment") func order() {
        socket.readData(to: GCDAsyncSocket.crlfData(), withTimeout: -1, tag: 1)
        socket.readData(toLength: 2, withTimeout: -1, tag: 2)
        socket.readData(withTimeout: -1, tag: 3)
        pair.peerSends("a\r\nbcdef")
        #expect(eventually { log.has("read 3") })
        #expect([log.text(1), log.text(2), log.text(3)] == ["a\r\n", "bc", "def"])
        #expect(log.lines.filter { $0.hasPrefix("read") } == ["read 1", "read 2", "read 3"])
    }

    @Test("a read of any bytes completes with the first that are there") func first() {
        pair.peerSends("abc")
        socket.readData(withTimeout: -1, tag: 1)
        #expect(eventually { log.text(1) == "abc" })
    }

    @Test("a negative timeout of a read means none") func noReadTimeout() {
        socket.readData(withTimeout: -0.5, tag: 1)
        socket.perform {}
        #expect(socket.isConnected)
        pair.peerSends("a")
        #expect(eventually { log.has("read 1") })
    }

    @Test("a timeout that is not extended disconnects with a read timeout") func readTimeout() {
        socket.readData(withTimeout: 0.05, tag: 1)
        #expect(eventually { log.has(StreamLog.ended(.readTimeoutError)) })
        #expect(log.count(of: "timeout of read 1") == 1)
    }

    @Test("a positive answer extends a timeout, and elapsed is the sum of all") func extensions() {
        log.extensions.withLock { $0 = [0.25, 0.5] }
        socket.readData(withTimeout: 0.125, tag: 1)
        #expect(eventually { log.has(StreamLog.ended(.readTimeoutError)) })
        let asked = log.lines.filter { $0.hasPrefix("timeout") }
        #expect(asked.map { $0.dropFirst(21) } == ["0.125: 0", "0.375: 0", "0.875: 0"])
    }

    @Test("the length of a timeout's question is what was read so far") func bytesDone() {
        pair.peerSends("abc")
        socket.readData(toLength: 9, withTimeout: 0.1, tag: 1)
        #expect(eventually { log.has("timeout of read 1 at 0.1: 3") })
    }

    @Test("a read that was extended goes on where it was") func goesOn() {
        log.extensions.withLock { $0 = [60] }
        socket.readData(toLength: 6, withTimeout: 0.1, tag: 1)
        pair.peerSends("abc")
        #expect(eventually { log.count(of: "timeout") == 1 })
        pair.peerSends("def")
        #expect(eventually { log.text(1) == "abcdef" })
    }

    @Test("didReadData is not called for a read that fails") func failedRead() {
        socket.readData(toLength: 9, withTimeout: -1, tag: 1)
        pair.peerSends("abc")
        #expect(eventually { log.has("part of read 1: 3") })
        pair.peerShutsWrite()
        #expect(eventually { log.has(StreamLog.ended(.closedError)) })
        #expect(log.count(of: "read 1") == 0)
    }

    @Test("partial reads are told by what came, and not for the rest") func partialReads() {
        socket.readData(toLength: 6, withTimeout: -1, tag: 1)
        pair.peerSends("ab")
        #expect(eventually { log.has("part of read 1: 2") })
        pair.peerSends("cd")
        #expect(eventually { log.count(of: "part of read 1: 2") == 2 })
        pair.peerSends("ef")
        #expect(eventually { log.text(1) == "abcdef" })
        #expect(log.count(of: "part") == 2)
    }

    @Test("the data of a read is a part of the buffer that was given, and stays when that changes") func givenBuffer() {
        let buffer = NSMutableData(data: Data("0123456789".utf8))
        socket.readData(toLength: 3, withTimeout: -1, buffer: buffer, bufferOffset: 4, tag: 1)
        pair.peerSends("abc")
        #expect(eventually { log.has("read 1") })
        #expect(String(decoding: buffer as Data, as: UTF8.self) == "0123abc789")
        buffer.length = 1 << 20
        buffer.resetBytes(in: NSRange(location: 0, length: 1 << 20))
        #expect(log.text(1) == "abc")
    }

    @Test("a buffer grows where it has to") func growingBuffer() {
        let buffer = NSMutableData(data: Data("0123456789".utf8))
        socket.readData(toLength: 20, withTimeout: -1, buffer: buffer, bufferOffset: 10, tag: 1)
        pair.peerSends(String(repeating: "x", count: 20))
        #expect(eventually { log.has("read 1") })
        #expect(String(decoding: buffer as Data, as: UTF8.self) == "0123456789" + String(repeating: "x", count: 20))
    }

    @Test("an offset behind the buffer's end does nothing") func offsetBehind() {
        socket.readData(toLength: 2, withTimeout: -1, buffer: NSMutableData(), bufferOffset: 1, tag: 1)
        socket.readData(toLength: 2, withTimeout: -1, buffer: nil, bufferOffset: 1, tag: 2)
        socket.readData(toLength: 2, withTimeout: -1, tag: 3)
        pair.peerSends("ab")
        #expect(eventually { log.text(3) == "ab" })
        #expect(!log.has("read 1") && !log.has("read 2"))
    }

    @Test("a maximum of 0 is none") func noMaximum() {
        socket.readData(to: GCDAsyncSocket.lfData(), withTimeout: -1, maxLength: 0, tag: 1)
        pair.peerSends(String(repeating: "x", count: 5_000) + "\n")
        #expect(eventually { log.text(1).count == 5_001 })
    }

    @Test("a separator that ends at exactly the maximum is found") func exactMaximum() {
        socket.readData(to: GCDAsyncSocket.crlfData(), withTimeout: -1, maxLength: 5, tag: 1)
        pair.peerSends("abc\r\nx")
        #expect(eventually { log.text(1) == "abc\r\n" })
        #expect(socket.isConnected)
    }

    @Test("a separator that does not come within the maximum disconnects") func overMaximum() {
        socket.readData(to: GCDAsyncSocket.crlfData(), withTimeout: -1, maxLength: 4, tag: 1)
        pair.peerSends("abc\r\n")
        #expect(eventually { log.has(StreamLog.ended(.readMaxedOutError)) })
    }

    @Test("a maximum less than the separator does nothing") func tooSmallMaximum() {
        socket.readData(to: GCDAsyncSocket.crlfData(), withTimeout: -1, maxLength: 1, tag: 1)
        socket.readData(withTimeout: -1, tag: 2)
        pair.peerSends("a\r\n")
        #expect(eventually { log.text(2) == "a\r\n" })
    }

    @Test("a separator is found across segments, and what follows stays") func acrossSegments() {
        socket.readData(to: Data("END".utf8), withTimeout: -1, tag: 1)
        pair.peerSends("abE")
        #expect(eventually { log.has("part of read 1: 3") })
        pair.peerSends("NDcd")
        #expect(eventually { log.text(1) == "abEND" })
        socket.readData(withTimeout: -1, tag: 2)
        #expect(eventually { log.text(2) == "cd" })
    }

    @Test("a read of no bytes, or up to no separator, does nothing") func emptyReads() {
        socket.readData(toLength: 0, withTimeout: -1, tag: 1)
        socket.readData(to: Data(), withTimeout: -1, tag: 2)
        socket.readData(withTimeout: -1, tag: 3)
        pair.peerSends("a")
        #expect(eventually { log.has("read 3") })
        #expect(!log.has("read 1") && !log.has("read 2"))
    }

    @Test("nil or no data is not written") func emptyWrites() {
        socket.write(nil, withTimeout: -1, tag: 1)
        socket.write(Data(), withTimeout: -1, tag: 2)
        socket.write("a", tag: 3)
        #expect(eventually { log.has("wrote 3") })
        #expect(!log.has("wrote 1") && !log.has("wrote 2"))
    }

    @Test("progress is NaN without a current operation") func noProgress() {
        #expect(socket.progressOfRead(returningTag: nil, bytesDone: nil, total: nil).isNaN)
        #expect(socket.progressOfWrite(returningTag: nil, bytesDone: nil, total: nil).isNaN)
    }

    @Test("after disconnectAfterWriting, reads and writes do nothing") func afterWriting() {
        socket.write(String(repeating: "x", count: 8 << 20), tag: 1)
        socket.disconnectAfterWriting()
        socket.readData(withTimeout: -1, tag: 2)
        socket.write("y", tag: 3)
        pair.peerSends("z")
        #expect(pair.peerReceives(8 << 20).count == 8 << 20)
        pair.peerShutsWrite()
        #expect(eventually { log.lines.last == "disconnected" })
        #expect(log.has("wrote 1") && !log.has("read 2") && !log.has("wrote 3"))
    }

    @Test("disconnectAfterReading does not wait for writes") func afterReading() {
        socket.write(String(repeating: "x", count: 32 << 20), tag: 1)
        socket.disconnectAfterReading()
        #expect(eventually { log.lines.last == "disconnected" })
        #expect(!log.has("wrote 1"))
    }

    @Test("disconnectAfterWriting does not wait for reads") func doesNotWaitForReads() {
        socket.readData(withTimeout: -1, tag: 1)
        socket.disconnectAfterWriting()
        pair.peerShutsWrite()
        #expect(eventually { log.lines.last == "disconnected" })
    }

    @Test("a socket that was never used ignores reads, writes and disconnects") func neverUsed() {
        let log = StreamLog()
        let socket = GCDAsyncSocket(delegate: log, delegateQueue: pair.queue)
        socket.readData(withTimeout: 0.01, tag: 1)
        socket.write("a", tag: 2)
        socket.startTLS(nil)
        socket.disconnect()
        socket.disconnectAfterReadingAndWriting()
        pair.queue.sync {}
        #expect(log.lines.isEmpty && socket.isDisconnected)
    }

    @Test("bytes that came before the peer's end are read first") func bytesBeforeEnd() {
        pair.peerSends("abc")
        pair.peerShutsWrite()
        socket.perform {}
        #expect(socket.isConnected)
        socket.readData(toLength: 3, withTimeout: -1, tag: 1)
        #expect(eventually { log.has(StreamLog.ended(.closedError)) })
        #expect(log.text(1) == "abc")
    }

    @Test("the data of a long read is its own") func longRead() {
        let text = String(repeating: "0123456789abcdef", count: 4_096)
        socket.readData(toLength: 65_536, withTimeout: -1, tag: 1)
        socket.readData(toLength: 65_536, withTimeout: -1, tag: 2)
        pair.peerSends(text)
        pair.peerSends(text)
        #expect(eventually { log.has("read 2") })
        var first = log.reads(1)[0]
        first[0] = 7
        #expect(log.text(1) == text && log.text(2) == text && first.count == 65_536)
    }

    @Test("data passes both ways after startTLS, in its order") func secured() throws {
        try #require(Certificates.problem == nil)
        final class Trusting: NSObject, GCDAsyncSocketDelegate {
            let log: StreamLog
            init(_ log: StreamLog) { self.log = log }
            func socket(_ sock: GCDAsyncSocket, didRead data: Data, withTag tag: Int) {
                log.socket(sock, didRead: data, withTag: tag)
            }
            func socketDidSecure(_ sock: GCDAsyncSocket) { log.socketDidSecure(sock) }
            func socket(
                _ sock: GCDAsyncSocket, didReceive trust: SecTrust, completionHandler: @escaping (Bool) -> Void
            ) { completionHandler(true) }
        }
        let pair = try StreamPair()
        let client = Trusting(pair.log)
        pair.client.delegate = client
        pair.client.write("plain")
        pair.server.readData(toLength: 5, withTimeout: -1, tag: 1)
        pair.server.startTLS([
            GCDAsyncSocketSSLIsServer: NSNumber(value: true),
            GCDAsyncSocketSSLCertificates: NSArray(array: [
                SecIdentity(certificateFile: Certificates.path("server.pem"))
            ]),
        ])
        pair.client.startTLS([GCDAsyncSocketManuallyEvaluateTrust: NSNumber(value: true)])
        pair.client.write("secret")
        pair.server.readData(toLength: 6, withTimeout: -1, tag: 2)
        #expect(eventually { pair.serverLog.text(2) == "secret" })
        #expect(pair.serverLog.text(1) == "plain" && pair.server.isSecure)
        let order = pair.serverLog.lines.filter { ["read 1", "secured", "read 2"].contains($0) }
        #expect(order == ["read 1", "secured", "read 2"])
    }
}
