import SocketCore
import SocketWorkshop
import Testing

@Suite("Rules and breakpoints of both directions")
struct RelayFaultsTests {
    private static func faults(holdLimit: Duration? = nil) -> RelayFaults {
        RelayFaults(seed: 1, connection: 1, began: .zero, delayBuffer: FaultBook.delayBuffer, holdLimit: holdLimit)
    }

    @Test("What one direction delays goes out in time though the other was held too long")
    func holdLimit() throws {
        var faults = Self.faults(holdLimit: .seconds(5))
        faults.add(NumberedFault(1, try FaultRule.parse("upstream latency 10s")))
        faults.add(NumberedBreak(2, try Breakpoint.parse("downstream on bytes 1")))
        var actions = faults.connected(.zero)
        actions += faults.receive([1, 2, 3], from: .client, .zero) + faults.receive([4, 5], from: .target, .zero)
        var written: [RelayMachine.Leg: [UInt8]] = [:]
        var (now, wake) = (MonotonicTime.zero, MonotonicTime?.none)
        while true {
            for action in actions {
                if case .write(let leg, let bytes, _, _) = action { written[leg, default: []] += bytes }
                if case .wake(let time) = action { wake = min(wake ?? time, time) }
            }
            guard let due = wake, due <= .zero + .seconds(30) else { break }
            (now, wake) = (max(now, due), nil)
            actions = faults.wake(now)
        }
        #expect(written == [.target: [1, 2, 3], .client: [4, 5]] && now == .zero + .seconds(10))
    }

    @Test("A rule and a breakpoint are there once, though a connection hears of them twice")
    func once() throws {
        var faults = Self.faults()
        for _ in 0..<2 {
            faults.add(NumberedFault(1, try FaultRule.parse("upstream replace a with aa")))
            faults.add(NumberedBreak(2, try Breakpoint.parse("upstream on bytes 100")))
        }
        #expect(faults.snapshot.rules.count == 1)
        let written = faults.receive(Array("banana ".utf8), from: .client, .zero).reduce(into: [UInt8]()) {
            if case .write(.target, let bytes, _, _) = $1 { $0 += bytes }
        }
        #expect(written == Array("baanaanaa ".utf8))
    }

    @Test("A reset of both directions is told once")
    func reset() throws {
        var faults = Self.faults()
        faults.add(NumberedFault(1, try FaultRule.parse("reset")))
        let actions = faults.connected(.zero)
        #expect(actions.count { $0 == .reset } == 1)
        #expect(faults.snapshot.rules.map(\.count) == [1])
    }

    @Test("What waits where a connection ends is told once")
    func abandoned() throws {
        var faults = Self.faults()
        faults.add(NumberedFault(1, try FaultRule.parse("latency 10s")))
        _ = faults.receive([1, 2, 3], from: .client, .zero) + faults.receive([4], from: .target, .zero)
        var lost: [RelayMachine.Leg: Int] = [:]
        for _ in 0..<2 { faults.abandon { lost[$0, default: 0] += $1 } }
        #expect(lost == [.client: 3, .target: 1])
    }

    @Test("Of both directions that are held, a release that runs into the next hit is told, and holds both again")
    func again() throws {
        var faults = Self.faults()
        faults.add(NumberedBreak(1, try Breakpoint.parse("on match x")))
        faults.add(NumberedBreak(2, try Breakpoint.parse("on match y")))
        var told: [FaultReport] = []
        var heldBack: [RelayFaults.Leg: Bool] = [:]
        func absorb(_ actions: [RelayFaults.Action]) {
            for case .report(_, let report) in actions { told.append(report) }
            for case .hold(let leg, let holds) in actions { heldBack[leg] = holds }
        }
        absorb(faults.receive(Array("xay".utf8), from: .client, .zero))
        absorb(faults.receive(Array("123".utf8), from: .target, .zero))
        absorb(faults.release(.all, nil, .zero + .milliseconds(1_500)))
        #expect(told.map(\.kind) == [.held, .released, .held])
        #expect(told.map(\.number) == [1, 1, 2] && told.map(\.amount) == [3, 1_500, 1])
        #expect(heldBack == [.client: true, .target: true])
        absorb(faults.receive(Array("4".utf8), from: .target, .zero + .seconds(2)))
        #expect(faults.snapshot.hold?.downstreamBytes == 1 && faults.snapshot.hold?.breakpoint == 2)
        absorb(faults.release(.drop, nil, .zero + .seconds(2)))
        #expect(told.last?.number == 2 && told.last?.amount == 500 && !faults.isHeld)
        #expect(faults.snapshot.droppedBytes == 2)
    }

    @Test("A breakpoint that is removed and runs into the next one is told, and holds both directions again")
    func removed() throws {
        var faults = Self.faults()
        faults.add(NumberedBreak(1, try Breakpoint.parse("on match x")))
        faults.add(NumberedBreak(2, try Breakpoint.parse("on match y")))
        _ = faults.receive(Array("xay".utf8), from: .client, .zero)
        _ = faults.receive(Array("123".utf8), from: .target, .zero)
        var kinds: [FaultReport.Kind] = []
        var heldBack: [RelayFaults.Leg: Bool] = [.client: true, .target: true]
        for action in faults.remove(breakpoint: 1, .zero + .seconds(1)) {
            if case .report(_, let report) = action { kinds.append(report.kind) }
            if case .hold(let leg, let holds) = action { heldBack[leg] = holds }
        }
        #expect(kinds == [.released, .held] && heldBack == [.client: true, .target: true])
        #expect(faults.snapshot.hold?.breakpoint == 2 && faults.heldSince == .zero + .seconds(1))
    }

    @Test("A breakpoint that is removed while another one holds releases nothing")
    func removedBeside() throws {
        var faults = Self.faults()
        faults.add(NumberedBreak(1, try Breakpoint.parse("upstream on connect")))
        faults.add(NumberedBreak(2, try Breakpoint.parse("upstream on bytes 10")))
        _ = faults.connected(.zero)
        _ = faults.release(.bytes(20), nil, .zero)
        _ = faults.receive([UInt8](repeating: 7, count: 20), from: .client, .zero)
        let actions = faults.remove(breakpoint: 2, .zero + .seconds(1))
        #expect(!actions.contains { if case .report(_, let report) = $0 { report.kind == .released } else { false } })
        #expect(faults.heldSince == .zero && faults.snapshot.hold?.breakpoint == 1)
        let last = faults.release(.all, nil, .zero + .seconds(2))
        #expect(last.contains { if case .report(_, let report) = $0 { report.amount == 2_000 } else { false } })
    }

    @Test("A read of the direction that has bytes is let pass, and the other one holds on")
    func read() throws {
        var faults = Self.faults()
        faults.add(NumberedBreak(1, try Breakpoint.parse("on match x")))
        _ = faults.receive(Array("xa".utf8), from: .client, .zero)
        let actions = faults.release(.read, nil, .zero)
        let written = actions.reduce(into: [UInt8]()) { if case .write(.target, let bytes, _, _) = $1 { $0 += bytes } }
        #expect(written == Array("xa".utf8))
        let answer = faults.receive(Array("b".utf8), from: .target, .zero)
        #expect(!answer.contains { if case .write = $0 { true } else { false } })
        #expect(faults.snapshot.hold?.downstreamBytes == 1)
    }
}
