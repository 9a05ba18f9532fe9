import SocketCore
import Testing

@testable import HostSockets

/// When all processes are looked at again.
@Suite("Rounds of looks at processes")
struct ScanRoundsTests {
    /// A round of one process that takes so many seconds from the first time on; it was due then.
    private func round(_ rounds: inout ScanRounds, at time: Int, taking cost: Int = 0, owned: Set<UInt64> = []) -> Bool
    {
        let now = MonotonicTime.zero + .seconds(time)
        guard rounds.isDue(now, isOwned: owned.contains) else { return false }
        rounds.begin([2, 1])
        #expect(rounds.next() == 1 && rounds.isUnderWay && !rounds.isDue(now, isOwned: owned.contains))
        #expect(rounds.next() == 2 && rounds.next() == nil && !rounds.isUnderWay)
        rounds.pause(from: now, until: now + .seconds(cost))
        return true
    }

    @Test("five seconds after the last one, or fifty times what that took")
    func pauses() {
        var rounds = ScanRounds()
        #expect(round(&rounds, at: 1) && !round(&rounds, at: 5) && round(&rounds, at: 6, taking: 1))
        #expect(!round(&rounds, at: 56) && round(&rounds, at: 57))
    }

    @Test("at once for a new socket without an owner, also for one that came during a round; once for each")
    func newcomers() {
        var rounds = ScanRounds()
        #expect(round(&rounds, at: 1))
        rounds.absorb(new: [7])
        #expect(!round(&rounds, at: 2, owned: [7]) && round(&rounds, at: 2) && !round(&rounds, at: 3))
        rounds.absorb(new: [8])
        rounds.begin([1])
        rounds.absorb(new: [9])
        _ = rounds.next()
        rounds.pause(from: .zero, until: .zero + .seconds(3))
        #expect(round(&rounds, at: 3, owned: [8]) && !round(&rounds, at: 4))
    }

    @Test("at once where something began to stand since the last one began, and where an owner was lost")
    func standing() {
        var rounds = ScanRounds()
        #expect(round(&rounds, at: 1))
        rounds.absorb(stalled: [7], of: [7]) { _ in true }
        #expect(round(&rounds, at: 2))
        rounds.absorb(stalled: [7], of: [7]) { _ in true }
        rounds.absorb(stalled: [], of: [7]) { _ in true }
        rounds.absorb(stalled: [7], of: [7]) { _ in true }
        #expect(!round(&rounds, at: 3))
        rounds.absorb(stalled: [7], of: [7]) { _ in false }
        #expect(round(&rounds, at: 4) && !round(&rounds, at: 5))
        rounds.absorb(stalled: [], of: []) { _ in false }
        rounds.absorb(stalled: [7], of: [7]) { _ in false }
        #expect(round(&rounds, at: 6))
    }
}
