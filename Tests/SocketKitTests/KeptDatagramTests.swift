import SocketKit
import SocketTestSupport
import Testing

/// Datagrams that are kept for a task that iterates.
@Suite(.timeLimit(.minutes(10))) struct KeptDatagramTests {
    private let sender = DatagramEnd()

    private func send(_ payload: [UInt8], to end: DatagramEnd) {
        sender.socket.send(payload, to: end.place, tag: 1)
    }

    @Test func aRefusedCallLeavesTheDatagramsToTheDelegate() throws {
        let end = DatagramEnd()
        #expect(throws: SocketError.self) { try end.socket.datagrams() }
        try end.socket.bind(to: .udp(host: "127.0.0.1", port: 0))
        try end.socket.beginReceiving()
        for number in UInt8(0)..<10 { send([number], to: end) }
        #expect(eventually { end.payloads.count == 10 })
    }

    @Test func askedTwiceNobodyThatWaitsIsForgottenAndNothingIsLost() async throws {
        let end = try DatagramEnd.bound(isReceiving: false)
        let first = try end.socket.datagrams()
        send([1], to: end)
        #expect(await eventually { end.picture?.datagrams?.counters.received == 1 })
        let second = try end.socket.datagrams()
        let tasks = [first, second].map { datagrams in
            Task { () -> [UInt8] in
                var bytes: [UInt8] = []
                for try await datagram in datagrams { bytes += datagram.bytes }
                return bytes
            }
        }
        for number in UInt8(2)..<6 { send([number], to: end) }
        #expect(await eventually { end.picture?.datagrams?.counters.received == 5 })
        end.socket.close()
        var bytes: [UInt8] = []
        for task in tasks { bytes += try await task.value }
        #expect(bytes.sorted() == [1, 2, 3, 4, 5])
    }

    @Test func theyAreBoundedInBytesAsWell() async throws {
        let end = try DatagramEnd.bound(isReceiving: false)
        let datagrams = try end.socket.datagrams(limit: 1_000, byteLimit: 10_000)
        for _ in 0..<20 { send([UInt8](repeating: 7, count: 1_000), to: end) }
        #expect(await eventually { end.picture?.datagrams?.counters.received == 20 })
        #expect(end.picture?.datagrams?.counters.unfetched == 11)
        var count = 0
        var iterator = datagrams.makeAsyncIterator()
        while count < 9, let datagram = try await iterator.next() {
            #expect(datagram.bytes.count == 1_000)
            count += 1
        }
        // A single one has room, however long it is.
        _ = try end.socket.datagrams(limit: 1_000, byteLimit: 1)
        send([UInt8](repeating: 8, count: 5_000), to: end)
        #expect(try await iterator.next()?.bytes.count == 5_000)
    }
}
