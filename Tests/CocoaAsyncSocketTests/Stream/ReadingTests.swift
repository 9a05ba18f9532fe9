import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport
import Testing

@Suite("Reading and writing with GCDAsyncSocket", .timeLimit(.minutes(10))) struct ReadingTests {
    private let pair: RawPair
    private var socket: GCDAsyncSocket { pair.socket }
    private var log: StreamLog { pair.log }

    init() throws { pair = try RawPair() }

    private func buffer(_ text: String) -> NSMutableData { NSMutableData(data: Data(text.utf8)) }
    private func text(_ buffer: NSMutableData) -> String { String(decoding: buffer as Data, as: UTF8.self) }

    @Test("readDataWithTimeout:tag:") func any() {
        socket.readData(withTimeout: -1, tag: 7)
        pair.peerSends("abc")
        #expect(eventually { log.text(7) == "abc" })
    }

    @Test("readDataWithTimeout:buffer:bufferOffset:tag:") func anyIntoBuffer() {
        let mine = buffer("12")
        socket.readData(withTimeout: -1, buffer: mine, bufferOffset: 3, tag: 6)
        socket.readData(withTimeout: -1, buffer: mine, bufferOffset: 2, tag: 7)
        pair.peerSends("abc")
        #expect(eventually { log.text(7) == "abc" })
        #expect(text(mine) == "12abc" && !log.has("read 6"))
        socket.readData(withTimeout: -1, buffer: nil, bufferOffset: 0, tag: 8)
        pair.peerSends("def")
        #expect(eventually { log.text(8) == "def" })
    }

    @Test("readDataWithTimeout:buffer:bufferOffset:maxLength:tag:") func anyWithMost() {
        let mine = buffer("........")
        for tag in 0..<2 {
            socket.readData(withTimeout: -1, buffer: mine, bufferOffset: 1, maxLength: 2, tag: tag)
        }
        socket.readData(withTimeout: -1, buffer: mine, bufferOffset: 0, maxLength: 0, tag: 2)
        pair.peerSends("abcde")
        #expect(eventually { log.has("read 2") })
        #expect(log.text(0) == "ab" && log.text(1) == "cd" && log.text(2) == "e")
        #expect(text(mine) == "ecd.....")
    }

    @Test("readDataToLength:withTimeout:tag:") func length() {
        socket.readData(toLength: 0, withTimeout: -1, tag: 6)
        socket.readData(toLength: 4, withTimeout: -1, tag: 7)
        pair.peerSends("ab")
        #expect(eventually { log.has("part of read 7: 2") })
        pair.peerSends("cde")
        #expect(eventually { log.text(7) == "abcd" })
        #expect(!log.has("read 6"))
    }

    @Test("readDataToLength:withTimeout:buffer:bufferOffset:tag:") func lengthIntoBuffer() {
        let mine = buffer("........")
        socket.readData(toLength: 3, withTimeout: -1, buffer: mine, bufferOffset: 2, tag: 7)
        pair.peerSends("abc")
        #expect(eventually { log.text(7) == "abc" })
        #expect(text(mine) == "..abc...")
    }

    @Test("readDataToData:withTimeout:tag:") func separator() {
        socket.readData(to: nil, withTimeout: -1, tag: 5)
        socket.readData(to: Data(), withTimeout: -1, tag: 6)
        socket.readData(to: GCDAsyncSocket.crlfData(), withTimeout: -1, tag: 7)
        socket.readData(to: GCDAsyncSocket.crlfData(), withTimeout: -1, tag: 8)
        pair.peerSends("one\r")
        pair.peerSends("\ntwo\r\nthree")
        #expect(eventually { log.text(8) == "two\r\n" })
        #expect(log.text(7) == "one\r\n" && !log.has("read 5") && !log.has("read 6"))
    }

    @Test("readDataToData:withTimeout:buffer:bufferOffset:tag:") func separatorIntoBuffer() {
        let mine = buffer("> ")
        socket.readData(to: GCDAsyncSocket.lfData(), withTimeout: -1, buffer: mine, bufferOffset: 2, tag: 7)
        pair.peerSends("one\ntwo")
        #expect(eventually { log.text(7) == "one\n" })
        #expect(text(mine) == "> one\n")
    }

    @Test("readDataToData:withTimeout:maxLength:tag:") func separatorWithMost() {
        socket.readData(to: GCDAsyncSocket.crlfData(), withTimeout: -1, maxLength: 1, tag: 6)
        socket.readData(to: GCDAsyncSocket.lfData(), withTimeout: -1, maxLength: 4, tag: 7)
        socket.readData(to: GCDAsyncSocket.lfData(), withTimeout: -1, maxLength: 4, tag: 8)
        pair.peerSends("abc\nabcde\n")
        #expect(eventually { log.has(StreamLog.ended(.readMaxedOutError)) })
        #expect(log.text(7) == "abc\n" && !log.has("read 6") && !log.has("read 8"))
    }

    @Test("readDataToData:withTimeout:buffer:bufferOffset:maxLength:tag:") func separatorIntoBufferWithMost() {
        let mine = buffer("")
        socket.readData(
            to: GCDAsyncSocket.zeroData(), withTimeout: -1, buffer: mine, bufferOffset: 0, maxLength: 9, tag: 7)
        pair.peerSends("abc\0")
        #expect(eventually { log.text(7) == "abc\0" })
        #expect(mine.length == 4)
    }

    @Test("progressOfReadReturningTag:bytesDone:total:") func readProgress() {
        var (tag, done, total): (Int, UInt, UInt) = (9, 9, 9)
        #expect(socket.progressOfRead(returningTag: &tag, bytesDone: &done, total: &total).isNaN)
        #expect((tag, done, total) == (0, 0, 0))
        socket.readData(toLength: 10, withTimeout: -1, tag: 7)
        pair.peerSends("abcd")
        #expect(eventually { socket.progressOfRead(returningTag: &tag, bytesDone: &done, total: &total) == 0.4 })
        #expect((tag, done, total) == (7, 4, 10))
        pair.peerSends("efghij")
        socket.readData(to: GCDAsyncSocket.lfData(), withTimeout: -1, tag: 8)
        #expect(
            eventually {
                socket.progressOfRead(returningTag: &tag, bytesDone: nil, total: &total) == 1 && tag == 8
            })
        #expect(total == 0)
    }

    @Test("writeData:withTimeout:tag:") func writing() {
        socket.write(nil, withTimeout: -1, tag: 5)
        socket.write(Data(), withTimeout: -1, tag: 6)
        for tag in 7..<9 { socket.write("abc", tag: tag) }
        let large = String(repeating: "x", count: 100_000)
        socket.write(large, tag: 9)
        #expect(pair.peerReceives(100_006) == "abcabc" + large)
        #expect(eventually { log.has("wrote 9") })
        #expect(log.lines.filter { $0.hasPrefix("wrote") } == ["wrote 7", "wrote 8", "wrote 9"])
    }

    @Test("progressOfWriteReturningTag:bytesDone:total:") func writeProgress() {
        #expect(socket.progressOfWrite(returningTag: nil, bytesDone: nil, total: nil).isNaN)
        var (tag, done, total): (Int, UInt, UInt) = (0, 0, 0)
        socket.write(String(repeating: "x", count: 32 << 20), tag: 7)
        #expect(
            eventually {
                let progress = socket.progressOfWrite(returningTag: &tag, bytesDone: &done, total: &total)
                return progress > 0 && progress < 1
            })
        #expect(tag == 7 && total == 32 << 20 && done > 0)
    }

    @Test("socket:didReadData:withTag:") func didRead() {
        for tag in 1...3 { socket.readData(toLength: 2, withTimeout: -1, tag: tag) }
        pair.peerSends("aabbcc")
        #expect(eventually { log.has("read 3") })
        #expect((1...3).map(log.text) == ["aa", "bb", "cc"])
    }

    @Test("socket:didReadPartialDataOfLength:tag:") func didReadPart() {
        socket.readData(to: GCDAsyncSocket.lfData(), withTimeout: -1, tag: 4)
        pair.peerSends("abc")
        #expect(eventually { log.has("part of read 4: 3") })
        pair.peerSends("\n")
        #expect(eventually { log.has("read 4") })
        #expect(log.count(of: "part of read") == 1)
    }

    @Test("socket:didWriteDataWithTag:") func didWrite() {
        socket.write("abc", tag: 4)
        #expect(eventually { log.has("wrote 4") })
    }

    @Test("who takes the place of a delegate without didWriteDataWithTag hears of writes") func didWriteLater() {
        let silent = ReadsOnly()
        socket.delegate = silent
        for tag in 1...3 {
            socket.write("abc", tag: tag)
            #expect(pair.peerReceives(3) == "abc")
        }
        // It was told of a write by now, and had no method for it.
        socket.readData(withTimeout: -1, tag: 7)
        pair.peerSends("d")
        #expect(eventually { silent.reads.withLock { $0 } == 1 })
        socket.delegate = log
        socket.write("abc", tag: 4)
        #expect(eventually { log.has("wrote 4") })
    }

    @Test("socket:didWritePartialDataOfLength:tag:") func didWritePart() {
        socket.write(String(repeating: "x", count: 16 << 20), tag: 4)
        #expect(eventually { log.count(of: "part of write 4: ") > 0 })
        _ = pair.peerReceives(16 << 20)
        #expect(eventually { log.has("wrote 4") })
    }

    @Test("socket:shouldTimeoutReadWithTag:elapsed:bytesDone:") func readTimeout() {
        log.extensions.withLock { $0 = [0.5] }
        pair.peerSends("abc")
        socket.readData(toLength: 5, withTimeout: 0.25, tag: 4)
        #expect(eventually { log.has(StreamLog.ended(.readTimeoutError)) })
        #expect(
            log.lines.filter { $0.hasPrefix("timeout") } == [
                "timeout of read 4 at 0.25: 3", "timeout of read 4 at 0.75: 3",
            ])
    }

    @Test("socket:shouldTimeoutWriteWithTag:elapsed:bytesDone:") func writeTimeout() {
        socket.write(Data(repeating: 1, count: 32 << 20), withTimeout: 0.25, tag: 4)
        #expect(eventually { log.has(StreamLog.ended(.writeTimeoutError)) })
        #expect(log.has("timeout of write 4 at 0.25"))
    }
}

/// A delegate that hears of reads alone.
private final class ReadsOnly: GCDAsyncSocketDelegate {
    let reads = Lock(0)

    func socket(_ sock: GCDAsyncSocket, didRead data: Data, withTag tag: Int) { reads.withLock { $0 += 1 } }
}
