import SocketCore
import Testing

@Suite struct DatagramQueueTests {
    private var queue = DatagramQueue()
    private let there = SocketAddress.v4(host: "192.0.2.1", port: 9)
    private let elsewhere = SocketAddress.v6(host: "2001:db8::1", port: 9)

    private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    private mutating func add(
        _ number: UInt64, _ target: DatagramQueue.Target, bytes: Int = 1, timeout: Duration? = nil
    ) {
        let request = DatagramRequest(
            [UInt8](repeating: UInt8(number), count: bytes), to: .udp(host: "x", port: 9), timeout: timeout,
            tag: Int(number))
        queue.enqueue(request, to: target, as: OperationID(number), now: .zero)
    }

    /// The first byte of each datagram that may leave now.
    private func ready(most: Int = 64) -> [UInt8] {
        queue.withReady(most: most, peer: nil, isSameWay: { $0 == there }) { $0.map { $0.bytes[0] } }
    }

    @Test mutating func whatWaitsForAnAddressHoldsUpThoseBehindIt() {
        add(1, .name)
        add(2, .address(there))
        #expect(queue.next(peer: nil, isFiltered: false) == .wait)
        queue.resolved(OperationID(1), .success(there))
        #expect(queue.next(peer: nil, isFiltered: false) == .send)
        #expect(ready() == [1, 2])
        #expect(queue.complete(now: .zero).tag == 1 && queue.complete(now: .zero).tag == 2)
        #expect(queue.count == 0 && queue.pendingBytes == 0 && queue.completed == 2)
        // An answer that comes late hits nobody.
        queue.resolved(OperationID(1), .success(there))
        #expect(queue.next(peer: nil, isFiltered: false) == .wait)
    }

    @Test mutating func whatLeavesTogetherGoesTheSameWayAndIsAtMostSoMuch() {
        for number in 1...4 { add(UInt64(number), .address(there)) }
        add(5, .address(elsewhere))
        add(6, .address(there))
        #expect(ready() == [1, 2, 3, 4] && ready(most: 2) == [1, 2])
        _ = queue.remove(OperationID(3), now: .zero)
        #expect(ready() == [1, 2, 4])
    }

    @Test mutating func aConnectWaitsBehindWhatWasQueuedBeforeAndHoldsUpTheRest() {
        add(1, .address(there))
        queue.enqueueConnect(to: .udp(host: "x", port: 9), .address(there), as: OperationID(2), now: .zero)
        add(3, .peer)
        #expect(queue.isConnecting && ready() == [1])
        _ = queue.complete(now: .zero)
        #expect(queue.next(peer: nil, isFiltered: false) == .connect(there))
        #expect(queue.takeFirst(.zero).isConnect && !queue.isConnecting)
        #expect(queue.next(peer: there, isFiltered: false) == .send)
        guard case .refuse(let error) = queue.next(peer: nil, isFiltered: false) else {
            Issue.record("a datagram without destination is to be refused")
            return
        }
        #expect(error.reason == .badConfiguration)
    }

    @Test mutating func aFilterIsAskedOnceAndWhatItHoldsBackCountsAsSent() {
        add(1, .address(there))
        add(2, .address(there))
        guard case .judge(let datagram) = queue.next(peer: nil, isFiltered: true) else {
            Issue.record("the filter is to be asked")
            return
        }
        #expect(datagram.tag == 1 && queue.next(peer: nil, isFiltered: true) == .wait)
        #expect(queue.judged(OperationID(2), passes: false, now: .zero) == nil)
        #expect(queue.judged(OperationID(1), passes: false, now: .zero)?.tag == 1)
        #expect(queue.completed == 1 && queue.count == 1)
        _ = queue.next(peer: nil, isFiltered: true)
        #expect(queue.judged(OperationID(2), passes: true, now: .zero) == nil)
        #expect(queue.next(peer: nil, isFiltered: true) == .send)
    }

    @Test mutating func theClockOfADatagramCountsWhileItIsInHand() {
        add(1, .name, timeout: .seconds(5))
        add(2, .address(there), timeout: .seconds(5))
        #expect(queue.deadline == time(5) && queue.expire(now: time(4)) == nil)
        #expect(queue.expire(now: time(6))?.tag == 1)
        #expect(queue.deadline == time(11) && queue.expire(now: time(10)) == nil)
        #expect(queue.expire(now: time(11))?.tag == 2)
        #expect(queue.deadline == nil)
    }

    @Test mutating func itsPictureListsWhatWaits() {
        for number in 1...3 { add(UInt64(number), .address(there), bytes: 10, timeout: .seconds(1)) }
        let picture = queue.snapshot
        #expect(picture.current?.tag == 1 && picture.current?.deadline == time(1))
        #expect(picture.pending.map(\.tag) == [2, 3] && picture.pendingCount == 2 && picture.pendingBytes == 30)
        #expect(queue.weight == 3 * 74)
    }

    @Test func receptionTakesNoneOneOrAllAndNothingWhileAFilterJudges() {
        var reception = DatagramReception()
        #expect(reception.wanted(most: 64) == 0)
        reception.receive(.once)
        #expect(reception.wanted(most: 64) == 1)
        reception.beginJudgement(of: 1)
        #expect(reception.wanted(most: 64) == 0)
        reception.endJudgement()
        // It was dropped: the next one is still waited for.
        reception.delivered(0)
        #expect(reception.wanted(most: 64) == 1)
        reception.delivered(1)
        #expect(reception.mode == .paused)
        reception.receive(.continuous)
        reception.delivered(3)
        #expect(reception.wanted(most: 64) == 64)
        reception.isHeld = true
        #expect(reception.wanted(most: 64) == 0 && reception.mode == .continuous)
    }

    @Test func theTableOfPeersKeepsTheBusyOnes() {
        var table = PeerTable(limit: 3)
        func address(_ number: Int) -> SocketAddress { .v4(host: "192.0.2.\(number)", port: 1) }
        table.received(from: address(1), packets: 10, bytes: 100, now: time(1))
        table.received(from: address(2), packets: 1, bytes: 1_000, now: time(2))
        for _ in 0..<5 { table.sent(to: address(3), bytes: 7, now: time(3)) }
        for number in 4...9 { table.received(from: address(number), packets: 1, bytes: 1, now: time(Int64(number))) }
        #expect(table.count == 3 && table.forgotten == 6)
        let peers = table.busiest(2)
        #expect(peers.map(\.address) == [address(1), address(3)])
        #expect(peers[1].packetsSent == 5 && peers[1].sent == 35 && peers[1].lastActivity == time(3))
    }
}
