import SocketCore
import SocketWorkshop
import Testing

/// Rules can make many pieces, or many bytes, of a few. However many, one turn does a limited part of it.
@Suite("Budget of a turn")
struct FaultBudgetTests {
    /// Delivers what one call to the pipeline allows, and returns the bytes and pieces of the largest call.
    private func largestTurn(
        _ rules: [String], _ sent: [UInt8], expecting total: Int
    ) throws -> (bytes: Int, pieces: Int) {
        let place = FaultPlace(seed: 1, connection: 1, direction: .upstream, began: .zero)
        var pipeline = FaultPipeline(place, delayBuffer: 4 << 20)
        for (index, text) in rules.enumerated() { pipeline.add(NumberedFault(index + 1, try FaultRule.parse(text))) }
        var actions = pipeline.receive(sent, .zero)
        var (largest, delivered) = ((bytes: 0, pieces: 0), 0)
        while true {
            var turn = (bytes: 0, pieces: 0)
            for case .deliver(let bytes, _, _) in actions { turn = (turn.bytes + bytes.count, turn.pieces + 1) }
            largest = (max(largest.bytes, turn.bytes), max(largest.pieces, turn.pieces))
            delivered += turn.bytes
            guard actions.contains(.wake(at: .zero)), delivered < total else { break }
            actions = pipeline.wake(.zero)
        }
        #expect(delivered >= total)
        return largest
    }

    @Test("rules that double their own input deliver it in many turns, each of them small")
    func growth() throws {
        // 10 bytes become 40 MiB. The first of them show how it goes on.
        let rules = [String](repeating: "upstream replace a with aa", count: 22)
        let turn = try largestTurn(rules, [UInt8](repeating: UInt8(ascii: "a"), count: 10), expecting: 1 << 20)
        #expect(turn.bytes <= 2 << 20 && turn.pieces <= 4_096)
    }

    @Test("growth that a later rule undoes is bounded too")
    func undone() throws {
        var bench = try FaultBench(
            [String](repeating: "upstream replace a with aa", count: 40) + ["upstream replace aa with \"\""])
        bench.sendOnce([UInt8](repeating: UInt8(ascii: "a"), count: 10))
        #expect(bench.output.isEmpty && bench.isHolding && bench.wake == .zero)
    }

    @Test("one read in pieces of one byte is delivered over several turns, in order, while the sender is held back")
    func pieces() throws {
        let sent = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 / 256) }
        let turn = try largestTurn(["upstream slice 1"], sent, expecting: sent.count)
        #expect(turn.pieces <= 4_096)
        var bench = try FaultBench(["upstream slice 1"])
        bench.sendOnce(sent)
        #expect(bench.isHolding && bench.pieces.count < sent.count && bench.pipeline.isPending)
        bench.pass(.zero)
        #expect(bench.output == sent && bench.pieces.allSatisfy { $0.bytes.count == 1 && $0.isApart })
        #expect(!bench.isHolding)
    }

    @Test("a receiver that does not read stops the pieces of later turns")
    func blocked() throws {
        var bench = try FaultBench(["upstream slice 1"])
        bench.sendOnce([UInt8](repeating: 1, count: 65_536))
        let first = bench.pieces.count
        bench.perform(bench.pipeline.blockReceiver(true, .zero))
        bench.pass(.seconds(10))
        #expect(bench.pieces.count == first && bench.isHolding)
        bench.perform(bench.pipeline.blockReceiver(false, .zero))
        bench.pass(.zero)
        #expect(bench.output.count == 65_536)
    }
}
