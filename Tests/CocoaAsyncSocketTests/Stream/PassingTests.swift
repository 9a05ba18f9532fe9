import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport
import Testing

/// A thread fills the `Data` of its last read again, and does not copy what is passed on as it came. Nobody may notice.
@Suite("Passing on what GCDAsyncSocket has read", .timeLimit(.minutes(10))) struct PassingTests {
    private let pair: RawPair

    init() throws { pair = try RawPair() }

    /// What the peer sends: as many bytes each time, and more than a `Data` holds without memory of its own.
    private static func message(_ number: Int) -> String { String(repeating: "\(number % 10)", count: 40) }

    private func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

    /// Sends messages one after the other, and returns what came back of each.
    private func answers(of echo: Echo, to count: Int, _ length: Int = 40) -> [String] {
        pair.socket.delegate = echo
        pair.socket.readData(toLength: 40, withTimeout: -1, tag: 0)
        return (0..<count).map { number in
            pair.peerSends(Self.message(number))
            return pair.peerReceives(length)
        }
    }

    @Test("what is passed on is what came, whether data is kept or not", arguments: [1, 3, 100])
    func kept(every: Int) throws {
        let echo = Echo { number, data in (data, number % every == 0) }
        #expect(answers(of: echo, to: 30) == (0..<30).map(Self.message))
        let numbers = stride(from: 0, to: 30, by: every)
        #expect(echo.kept.withLock { $0 }.map(text) == numbers.map(Self.message))
    }

    @Test("data that was changed is written as it is now, and what was kept of it stays") func changed() throws {
        let echo = Echo { _, data in
            var data = data
            data[0] = 0x21
            return (data, true)
        }
        let changed = (0..<10).map { "!" + Self.message($0).dropFirst() }
        #expect(answers(of: echo, to: 10) == changed)
        #expect(echo.kept.withLock { $0 }.map(text) == (0..<10).map(Self.message))
    }

    @Test("a part of the data is written as that part") func part() throws {
        let echo = Echo { number, data in (data[1..<(2 + number)], false) }
        #expect(answers(of: echo, to: 1, 1) == ["0"])
        pair.peerSends("0123456789" + Self.message(1).dropFirst(10))
        #expect(pair.peerReceives(2) == "12")
    }

    @Test("data of before is written by what came then") func later() throws {
        let before = Lock(Data())
        let echo = Echo { _, data in
            let former = before.withLock { $0 }
            before.replace(with: data) { swap(&$0, &$1) }
            return (former.isEmpty ? data : former, false)
        }
        #expect(answers(of: echo, to: 5) == [0, 0, 1, 2, 3].map(Self.message))
    }

    @Test("what is written behind a disconnect goes to nobody, and to the next connection once there is one")
    func reconnected() throws {
        let other = try StreamPair()
        let port = other.listener.localPort
        let log = StreamLog { line, socket in
            guard line.hasPrefix("read") else { return }
            socket.disconnect()
            socket.write(Data("lost".utf8), withTimeout: -1, tag: 1)
            #expect(throws: Never.self) { try socket.connect(toHost: "127.0.0.1", onPort: port) }
            socket.write(Data("found".utf8), withTimeout: -1, tag: 2)
        }
        pair.socket.delegate = log
        pair.socket.readData(toLength: 40, withTimeout: -1, tag: 0)
        pair.peerSends(Self.message(0))
        #expect(eventually { other.serverLog.accepted.count == 2 })
        other.serverLog.accepted[1].readData(toLength: 5, withTimeout: -1, tag: 7)
        #expect(eventually { other.serverLog.text(7) == "found" })
        #expect(pair.peerReceives(1).isEmpty)
    }

    @Test("what is written to another socket goes there") func forwarded() throws {
        let other = try StreamPair()
        let echo = Echo { number, data in
            other.client.write(data, withTimeout: -1, tag: 0)
            other.client.write(Data("|".utf8), withTimeout: -1, tag: 0)
            return (Data("\(number)".utf8), false)
        }
        other.server.readData(toLength: 82, withTimeout: -1, tag: 7)
        #expect(answers(of: echo, to: 2, 1) == ["0", "1"])
        #expect(eventually { other.serverLog.text(7) == Self.message(0) + "|" + Self.message(1) + "|" })
    }
}

/// Answers each read, and may keep it.
private final class Echo: GCDAsyncSocketDelegate {
    let kept = Lock<[Data]>([])
    private let count = Lock(0)
    private let answer: (Int, Data) -> (Data, keeps: Bool)

    init(_ answer: @escaping (Int, Data) -> (Data, keeps: Bool)) { self.answer = answer }

    func socket(_ sock: GCDAsyncSocket, didRead data: Data, withTag tag: Int) {
        let number = count.withLock { count in
            defer { count += 1 }
            return count
        }
        let (answer, keeps) = answer(number, data)
        if keeps { kept.withLock { $0.append(data) } }
        sock.write(answer, withTimeout: -1, tag: 0)
        sock.readData(toLength: 40, withTimeout: -1, tag: 0)
    }
}
