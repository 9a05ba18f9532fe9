import SocketCore
import Testing

struct EventRingTests {
    @Test func anEmptyRingHasNothing() {
        let ring = EventRing(capacity: 4)
        #expect(ring.read(from: 0).events.isEmpty)
        #expect(ring.read(from: 0).lost == 0)
        #expect(ring.read(from: 0).next == 0)
        #expect(ring.read(from: 9).next == 0)
    }

    @Test func eventsKeepWhatWasRecorded() {
        var ring = EventRing(capacity: 4)
        ring.record(.readDone, of: SocketID(3), at: .at(5), tag: 6, first: 7, second: 8)
        let event = SocketEvent(
            sequence: 0, time: .at(5), socket: SocketID(3), kind: .readDone, tag: 6, first: 7, second: 8)
        #expect(ring.read(from: 0).events == [event])
    }

    /// Every fill level of every small ring, read from every number.
    @Test func aReaderGetsWhatIsLeftAndLearnsWhatItLost() {
        for capacity in 1...5 {
            var ring = EventRing(capacity: capacity)
            for recorded in 0...17 {
                for start in 0...19 {
                    let oldest = max(0, recorded - capacity)
                    let answer = ring.read(from: UInt64(start))
                    let expected = start < recorded ? Array(max(start, oldest)..<recorded) : []
                    #expect(answer.events.map(\.first) == expected)
                    #expect(answer.events.map(\.sequence) == expected.map { UInt64($0) })
                    #expect(answer.lost == UInt64(start < recorded ? max(0, oldest - start) : 0))
                    #expect(answer.next == UInt64(recorded))
                }
                ring.record(.closed, of: SocketID(1), at: .zero, first: recorded)
            }
        }
    }

    /// At every fill level, room is made for some more, and nothing that was kept is lost to them.
    @Test func roomIsMadeForMore() {
        for (recorded, more) in (0...9).flatMap({ recorded in (0...9).map { (recorded, $0) } }) {
            var ring = EventRing(capacity: 4)
            for number in 0..<recorded { ring.record(.closed, of: SocketID(1), at: .zero, first: number) }
            ring.makeRoom(for: more)
            for number in recorded..<recorded + more { ring.record(.closed, of: SocketID(1), at: .zero, first: number) }
            let oldest = max(0, recorded - 4)
            #expect(ring.read(from: UInt64(oldest)).events.map(\.first) == Array(oldest..<recorded + more))
            #expect(ring.read(from: UInt64(oldest)).lost == 0)
        }
    }

    @Test func aRingForNoEventsRecordsNone() {
        var ring = EventRing(capacity: 0)
        ring.makeRoom(for: 3)
        ring.record(.closed, of: SocketID(1), at: .zero)
        #expect(ring.next == 0)
        #expect(ring.read(from: 0).events.isEmpty)
        #expect(ring.read(from: 0).lost == 0)
    }
}
