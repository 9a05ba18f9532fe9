import SocketCore
import SocketWorkshop
import Testing

@Suite("Rules of a run")
struct FaultBookTests {
    private func chosen(_ text: String, seed: UInt64 = 1, peer: String = "10.1.2.3") throws -> [UInt64] {
        var book = FaultBook(seed: seed)
        _ = book.add([try FaultRule.parse(text)])
        return (1...12).filter { !book.rules(of: $0, peer: IPAddress(peer)).isEmpty }
    }

    @Test("Conditions choose connections")
    func conditions() throws {
        #expect(try chosen("connection 3 reset") == [3])
        #expect(try chosen("every 4 reset") == [4, 8, 12])
        #expect(try chosen("first 2 reset") == [1, 2])
        #expect(try chosen("every 2 first 5 reset") == [2, 4])
        #expect(try chosen("peer 10.0.0.0/8 reset").count == 12)
        #expect(try chosen("peer 10.0.0.0/8 reset", peer: "::ffff:10.9.9.9").count == 12)
        #expect(try chosen("peer 10.0.0.0/8 reset", peer: "192.0.2.1").isEmpty)
    }

    @Test("prob is drawn once for a connection, the same for the same seed")
    func probability() throws {
        var book = FaultBook(seed: 5)
        _ = book.add([try FaultRule.parse("prob 0.25 reset")])
        let hit = (1...4_000).filter { !book.rules(of: UInt64($0), peer: nil).isEmpty }
        #expect((850...1_150).contains(hit.count))
        #expect(hit == (1...4_000).filter { !book.rules(of: UInt64($0), peer: nil).isEmpty })
        #expect(try chosen("prob 0.5 reset", seed: 1) != chosen("prob 0.5 reset", seed: 2))
    }

    @Test("Numbers are not used again")
    func numbers() throws {
        var book = FaultBook(seed: 0)
        let rule = try FaultRule.parse("reset")
        _ = book.add([rule, rule])
        #expect(book.remove(2) && !book.remove(2))
        #expect(book.add([rule])?.map(\.number) == [3])
        #expect(book.add([FaultRule](repeating: rule, count: 255)) == nil)
    }
}

@Suite("Faults of datagrams")
struct DatagramFaultsTests {
    private struct Bench {
        var faults: DatagramFaults
        var now = MonotonicTime.zero
        var out: [[UInt8]] = []
        var wake: MonotonicTime?

        init(_ rules: [String], seed: UInt64 = 3, delayBuffer: Int = 1 << 20) throws {
            let place = FaultPlace(seed: seed, connection: 1, direction: .upstream, began: .zero)
            faults = DatagramFaults(place, delayBuffer: delayBuffer)
            for (index, text) in rules.enumerated() { faults.add(NumberedFault(index + 1, try FaultRule.parse(text))) }
        }

        mutating func perform(_ actions: [DatagramFaults.Action]) {
            for action in actions {
                switch action {
                case .deliver(let bytes): out.append(bytes)
                case .wake(let time): wake = time
                case .report: break
                }
            }
        }

        mutating func send(_ bytes: [UInt8]) { perform(faults.receive(bytes, now)) }

        mutating func pass(_ time: Duration) {
            let end = now + time
            while let due = wake, due <= end {
                now = max(now, due)
                wake = nil
                perform(faults.wake(now))
            }
            now = end
        }
    }

    @Test("loss and duplicate have their share, the same for the same seed")
    func shares() throws {
        var lossy = try Bench(["loss 0.1"])
        var double = try Bench(["duplicate 0.1"])
        for number in 0..<5_000 {
            let datagram = [UInt8(number >> 8), UInt8(number & 255)]
            lossy.send(datagram)
            double.send(datagram)
        }
        #expect((4_400...4_600).contains(lossy.out.count) && (5_400...5_600).contains(double.out.count))
        var again = try Bench(["loss 0.1"])
        for number in 0..<5_000 { again.send([UInt8(number >> 8), UInt8(number & 255)]) }
        #expect(again.out == lossy.out)
    }

    @Test("delay keeps the order, reorder does not")
    func times() throws {
        var delayed = try Bench(["delay 50ms"])
        var reordered = try Bench(["reorder 0.3 20ms"])
        for number in 0..<100 {
            delayed.send([UInt8(number)])
            reordered.send([UInt8(number)])
            delayed.pass(.milliseconds(5))
            reordered.pass(.milliseconds(5))
        }
        #expect(delayed.out.count == 91)
        delayed.pass(.seconds(1))
        reordered.pass(.seconds(1))
        let all = (0..<100).map { [UInt8($0)] }
        #expect(delayed.out == all)
        #expect(reordered.out != all && reordered.out.sorted { $0[0] < $1[0] } == all)
    }

    @Test("truncate and corrupt")
    func changes() throws {
        var short = try Bench(["truncate 3"])
        short.send([1, 2, 3, 4])
        short.send([1])
        #expect(short.out == [[1, 2, 3], [1]])
        var corrupt = try Bench(["corrupt 1 bits"])
        for _ in 0..<50 { corrupt.send([0, 0, 0, 0]) }
        #expect(corrupt.out.allSatisfy { $0.reduce(0) { $0 + $1.nonzeroBitCount } == 1 } && Set(corrupt.out).count > 10)
    }

    @Test("What is delayed is bounded, and what finds no room is counted")
    func bounded() throws {
        var bench = try Bench(["delay 1s"], delayBuffer: 100)
        for _ in 0..<30 { bench.send([UInt8](repeating: 1, count: 10)) }
        #expect(bench.faults.delayedBytes == 100 && bench.faults.overflowed == 20)
        #expect(bench.faults.droppedBytes == 200)
        bench.pass(.seconds(2))
        #expect(bench.out.count == 10)
    }

    @Test("When the rules go, what was delayed goes out first")
    func removal() throws {
        var bench = try Bench(["delay 10s"])
        bench.send([1])
        bench.perform(bench.faults.remove(rule: 1, bench.now))
        bench.send([2])
        #expect(bench.out == [[1], [2]] && bench.faults.isIdle)
    }

    @Test("A rule for streams does nothing to datagrams")
    func streams() throws {
        let bench = try Bench(["latency 1s", "slice 1"])
        #expect(bench.faults.isIdle)
    }
}
