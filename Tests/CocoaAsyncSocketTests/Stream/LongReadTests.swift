import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport
import Testing

/// The `Data` of a long read refers to the array that it came in, and that array is used again once the `Data` is gone.
/// No delegate may notice.
@Suite("Long reads of GCDAsyncSocket", .timeLimit(.minutes(10))) struct LongReadTests {
    private static let length = 65_536
    private let pair: RawPair

    init() throws { pair = try RawPair() }

    /// What the peer sends: other bytes each time.
    private static func message(_ number: Int) -> Data {
        Data((0..<length).map { UInt8(truncatingIfNeeded: $0 / 251 &+ number &* 7) })
    }

    /// Sends messages one after the other, each in two parts, and waits until all are read.
    private func feed(_ count: Int, to reader: Reader) throws {
        pair.socket.delegate = reader
        pair.socket.readData(toLength: UInt(Self.length), withTimeout: -1, tag: 0)
        for number in 0..<count {
            let message = Self.message(number)
            let seam = number * 4_099 % Self.length
            for part in [message[..<seam], message[seam...]] where !part.isEmpty {
                let sent = part.withUnsafeBytes { memory in
                    send(pair.pair.peer, memory.baseAddress, memory.count, Int32(MSG_NOSIGNAL))
                }
                try #require(sent == part.count)
            }
            try #require(eventually { reader.count.withLock { $0 } > number })
        }
    }

    @Test("data that was kept stays as it came, whether the memory of others is used again or not", arguments: [1, 2])
    func kept(every: Int) throws {
        let reader = Reader(Self.length) { number, data in
            #expect(data == Self.message(number))
            return number % every == 0 ? data : nil
        }
        try feed(20, to: reader)
        let numbers = Array(stride(from: 0, to: 20, by: every))
        #expect(reader.kept.withLock { $0 } == numbers.map(Self.message))
    }

    @Test("data that was changed, grown or cut stays so while others are read") func changed() throws {
        let reader = Reader(Self.length) { number, data in
            #expect(data == Self.message(number))
            var data = data
            switch number % 4 {
            case 0: data[1] = 0x21
            case 1: data.append(0x21)
            case 2: data = data[100..<40_000]
            default: data.removeAll(keepingCapacity: true)
            }
            return data
        }
        try feed(20, to: reader)
        let expected = (0..<20).map { number in
            let message = Self.message(number)
            return switch number % 4 {
            case 0: message[..<1] + [0x21] + message[2...]
            case 1: message + [0x21]
            case 2: message[100..<40_000]
            default: Data()
            }
        }
        #expect(reader.kept.withLock { $0 } == expected)
    }
}

/// Reads again and again, and keeps what `use` returns.
private final class Reader: GCDAsyncSocketDelegate {
    let kept = Lock<[Data]>([])
    let count = Lock(0)
    private let length: Int
    private let use: (Int, Data) -> Data?

    init(_ length: Int, _ use: @escaping (Int, Data) -> Data?) { (self.length, self.use) = (length, use) }

    func socket(_ sock: GCDAsyncSocket, didRead data: Data, withTag tag: Int) {
        let number = count.withLock { $0 }
        if let data = use(number, data) { kept.withLock { $0.append(data) } }
        sock.readData(toLength: UInt(length), withTimeout: -1, tag: 0)
        count.withLock { $0 = number + 1 }
    }
}
