import Testing

@testable import SocketCore
@testable import SocketWorkshop

@Suite("The clients of a relay of datagrams")
struct AssociationTableTests {
    private func client(_ port: UInt16) -> SocketAddress { .v4(host: "127.0.0.1", port: port) }
    private func at(_ seconds: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds) * 1_000_000_000) }

    @Test("each address has one; it ends when neither side sends anything for a while")
    func expiry() {
        var table = AssociationTable(patience: .seconds(30))
        #expect(table.deadline == nil)
        #expect(table.heard(from: client(1), now: at(0)) == .new(evicting: nil))
        #expect(table.heard(from: client(2), now: at(5)) == .new(evicting: nil))
        #expect(table.heard(from: client(1), now: at(10)) == .known)
        table.answered(client(2), now: at(20))
        table.answered(client(3), now: at(20))
        #expect(table.deadline == at(40) && table.counts.open == 2 && table.counts.opened == 2)
        #expect(table.expire(now: at(39)).isEmpty)
        #expect(table.expire(now: at(40)) == [client(1)])
        #expect(table.expire(now: at(60)) == [client(2)])
        #expect(table.counts.open == 0 && table.counts.expired == 2 && table.counts.evicted == 0)
        #expect(table.heard(from: client(1), now: at(61)) == .new(evicting: nil))
    }

    @Test("at the limit the one that was quiet for longest goes, and is counted")
    func limit() {
        var table = AssociationTable(limit: 3)
        for port in 1...3 as ClosedRange<UInt16> { _ = table.heard(from: client(port), now: at(Int(port))) }
        _ = table.heard(from: client(1), now: at(4))
        #expect(table.heard(from: client(4), now: at(5)) == .new(evicting: client(2)))
        #expect(table.heard(from: client(5), now: at(5)) == .new(evicting: client(3)))
        #expect(table.counts.open == 3 && table.counts.evicted == 2 && table.counts.opened == 5)
        table.remove(client(1))
        #expect(table.counts.open == 2 && table.heard(from: client(6), now: at(6)) == .new(evicting: nil))
    }

    @Test("one that has something on its way is not quiet")
    func busy() {
        var table = AssociationTable(patience: .seconds(30))
        _ = table.heard(from: client(1), now: at(0))
        #expect(table.expire(now: at(30)) { $0 == client(1) }.isEmpty)
        #expect(table.counts.expired == 0 && table.deadline == at(60))
        #expect(table.expire(now: at(60)) { _ in false } == [client(1)])
    }
}
