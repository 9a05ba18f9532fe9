import Dispatch
import SocketCore
import SocketKit
import SocketTestSupport
import Testing

/// Standing reads that lend their bytes.
@Suite(.timeLimit(.minutes(10))) struct BorrowingTests {
    @Test func bytesAreShownWhereTheyCameAndNothingIsCopied() throws {
        let pair = try ConnectedPair()
        let borrower = Borrower()
        pair.socket.delegate = borrower
        pair.socket.read(.borrowing(tag: 7))
        try pair.peerSends("first")
        #expect(eventually { borrower.text == "first" })
        try pair.peerSends("second")
        #expect(eventually { borrower.text == "firstsecond" })
        #expect(Set(borrower.loans.map(\.place)).count == 1, "each came in a place of its own, so it was copied")
        #expect(borrower.loans.allSatisfy { $0.tag == 7 })
        #expect(borrower.readBytes.isEmpty)
        #expect(pair.engine.snapshot().sockets.first?.received == 11)
    }

    @Test func limitBoundsEachLoanAndNothingIsLost() throws {
        let pair = try ConnectedPair(.unix)
        let borrower = Borrower()
        pair.socket.delegate = borrower
        pair.socket.read(.borrowing(limit: 4))
        let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0) }
        try pair.peerSends(bytes)
        #expect(eventually { borrower.bytes == bytes })
        #expect(borrower.loans.allSatisfy { $0.bytes.count <= 4 })
    }

    @Test func onAQueueOfItsOwnADelegateIsShownACopyInOrder() throws {
        let pair = try ConnectedPair()
        let borrower = Borrower()
        pair.socket.delegate = borrower
        pair.socket.delegateQueue = DispatchQueue(label: "delegate")
        pair.socket.read(.borrowing())
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
        try pair.peerSends(bytes)
        #expect(eventually { borrower.bytes == bytes })
    }

    @Test func aDelegateThatDoesNotBorrowGetsThemAsARead() throws {
        let pair = try ConnectedPair()
        pair.socket.read(.borrowing(tag: 3))
        try pair.peerSends("as ever")
        #expect(eventually { pair.recorder.calls.contains(.read(Array("as ever".utf8), tag: 3)) })
    }

    @Test func lentBytesStayWhileTheDelegateMakesTheEngineReceiveElsewhere() throws {
        let engine = SocketEngine()
        let pair = try ConnectedPair(engine: engine)
        let other = try ConnectedPair(engine: engine)
        try other.peerSends([UInt8](repeating: 0xEE, count: 5_000))
        #expect(eventually { engine.snapshot().sockets.contains { $0.flags.contains(.readSourceSuspended) } })
        let borrower = Borrower()
        let socket = other.socket
        borrower.meanwhile.withLock {
            $0 = {
                socket.read(ReadRequest(.length(5_000), tag: 9))
                _ = engine.snapshot()
            }
        }
        pair.socket.delegate = borrower
        pair.socket.read(.borrowing())
        try pair.peerSends("untouched")
        #expect(eventually { borrower.text == "untouched" })
        #expect(eventually { other.recorder.calls.contains(.read([UInt8](repeating: 0xEE, count: 5_000), tag: 9)) })
    }

    @Test func aQueuedReadGoesFirstAndTheRestIsLentAgain() throws {
        let pair = try ConnectedPair()
        let borrower = Borrower()
        pair.socket.delegate = borrower
        pair.socket.read(.borrowing())
        pair.socket.read(ReadRequest(.delimiter([10], limit: nil)))
        try pair.peerSends("line\nrest")
        #expect(eventually { borrower.text == "rest" })
        #expect(borrower.readBytes == Array("line\n".utf8))
    }

    @Test func theSessionMayBeClosedWhileItsBytesAreLent() throws {
        let pair = try ConnectedPair()
        let borrower = Borrower()
        let socket = pair.socket
        borrower.meanwhile.withLock { $0 = { socket.disconnect() } }
        socket.delegate = borrower
        socket.read(.borrowing())
        try pair.peerSends("once")
        #expect(eventually { borrower.hasDisconnected })
        #expect(borrower.text == "once")
    }

    @Test func linesAreShownOneByOneWhereTheyCame() throws {
        let pair = try ConnectedPair()
        let borrower = Borrower()
        pair.socket.delegate = borrower
        pair.socket.read(.borrowing(upTo: [10], tag: 2))
        try pair.peerSends("one\ntwo\nthr")
        #expect(eventually { borrower.text == "one\ntwo\n" })
        let places = borrower.loans.map(\.place)
        #expect(places.count == 2 && places[1] == places[0] + 4, "they do not lie behind each other as they came")
        try pair.peerSends("ee\nfour\n")
        #expect(eventually { borrower.text == "one\ntwo\nthree\nfour\n" })
        #expect(borrower.loans.map(\.bytes.count) == [4, 4, 6, 5] && borrower.readBytes.isEmpty)
    }

    @Test func aDelegateThatIsSetWhileALineIsLentGetsTheNextOne() throws {
        let pair = try ConnectedPair()
        let (first, second) = (Borrower(), Borrower())
        let socket = pair.socket
        first.meanwhile.withLock { $0 = { socket.delegate = second } }
        socket.delegate = first
        socket.read(.borrowing(upTo: [10]))
        try pair.peerSends("one\ntwo\nthree\n")
        #expect(eventually { second.text == "two\nthree\n" })
        #expect(first.text == "one\n")
    }

    @Test func aReadQueuedWhileALineIsLentTakesWhatLiesBehindIt() throws {
        let pair = try ConnectedPair()
        let borrower = Borrower()
        let socket = pair.socket
        borrower.meanwhile.withLock { meanwhile in
            meanwhile = {
                borrower.meanwhile.withLock { $0 = nil }
                socket.read(ReadRequest(.length(5), tag: 9))
            }
        }
        socket.delegate = borrower
        socket.read(.borrowing(upTo: [10]))
        try pair.peerSends("head\nbody!next\n")
        #expect(eventually { borrower.text == "head\nnext\n" })
        #expect(borrower.readBytes == Array("body!".utf8))
    }

    @Test func whatLiesBehindALentLineIsReadBeforeTheSessionClosesAfterReads() throws {
        let pair = try ConnectedPair()
        let borrower = Borrower()
        let socket = pair.socket
        borrower.meanwhile.withLock { $0 = { socket.disconnect(.afterReading) } }
        socket.delegate = borrower
        socket.read(.borrowing(upTo: [10]))
        try pair.peerSends("one\ntwo\nthree\n")
        #expect(eventually { borrower.hasDisconnected })
        #expect(borrower.text == "one\ntwo\nthree\n")
    }

    @Test func whatIsWrittenWhileLinesAreLentGoesOutInTheirOrder() throws {
        let pair = try ConnectedPair()
        let borrower = Borrower()
        let socket = pair.socket
        borrower.meanwhile.withLock { $0 = { socket.write([UInt8(ascii: "+")]) } }
        socket.delegate = borrower
        socket.read(.borrowing(upTo: [10]))
        try pair.peerSends("a\nb\nc\n")
        #expect(try pair.peerReceives(3) == Array("+++".utf8))
        #expect(borrower.text == "a\nb\nc\n")
    }

    @Test(arguments: [
        ReadRequest(.length(3), isStanding: true, lendsBytes: true),
        ReadRequest(.available(limit: nil), lendsBytes: true),
    ])
    func onlyAStandingReadOfWhateverComesCanLend(_ request: ReadRequest) throws {
        let pair = try ConnectedPair()
        pair.socket.read(request)
        #expect(eventually { pair.recorder.failures.first?.error.reason == .badParameter })
        #expect(pair.recorder.failures.first?.error.detail.contains("lendsBytes") == true)
    }
}

/// Notes what is lent, and does something while it is.
private final class Borrower: AsyncSocketDelegate {
    struct Loan {
        var bytes: [UInt8]
        var place: UInt
        var tag: Int
    }

    private struct State {
        var loans: [Loan] = []
        var readBytes: [UInt8] = []
        var hasDisconnected = false
    }

    private let state = Lock(State())
    let meanwhile = Lock<(@Sendable () -> Void)?>(nil)

    var loans: [Loan] { state.withLock { $0.loans } }
    var bytes: [UInt8] { loans.flatMap(\.bytes) }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var readBytes: [UInt8] { state.withLock { $0.readBytes } }
    var hasDisconnected: Bool { state.withLock { $0.hasDisconnected } }

    func socket(_ socket: AsyncSocket, didBorrow bytes: RawSpan, tag: Int) {
        meanwhile.withLock { $0 }?()
        let loan = bytes.withUnsafeBytes { Loan(bytes: Array($0), place: UInt(bitPattern: $0.baseAddress), tag: tag) }
        state.withLock { $0.loans.append(loan) }
    }

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        state.withLock { $0.readBytes += bytes }
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        state.withLock { $0.hasDisconnected = true }
    }
}
