/// A budget for inflating the compressed messages of other parties, counted in bytes in and bytes out.
///
/// A kilobyte can inflate to a megabyte, and inflating on an engine's queue delays all of the engine's other
/// connections. One limit per turn bounds the delay, and one per second bounds the load. Messages beyond the limits are
/// counted but not inflated.
package struct InflationBudget: Sendable {
    private let perTurn: Int
    private let perSecond: Int
    /// The time that identifies the current turn, and what that turn has spent.
    private var turn: MonotonicTime
    private var spent = 0
    /// What is left for the second.
    private var saved: Int
    /// The most that a single turn has spent.
    package private(set) var mostInTurn = 0

    /// Creates a full budget. Negative limits count as 0.
    package init(perTurn: Int, perSecond: Int, now: MonotonicTime) {
        self.perTurn = max(0, perTurn)
        self.perSecond = max(0, perSecond)
        turn = now
        saved = self.perSecond
    }

    /// Creates an engine's budget: a few milliseconds of a turn, and a twentieth of a processor.
    package static func ofEngine(now: MonotonicTime) -> InflationBudget {
        InflationBudget(perTurn: 4 << 20, perSecond: 32 << 20, now: now)
    }

    /// Creates one connection's budget, so that a single connection can't use up the engine's.
    package static func ofConnection(now: MonotonicTime) -> InflationBudget {
        InflationBudget(perTurn: 2 << 20, perSecond: 8 << 20, now: now)
    }

    /// Returns what can be spent at `now`. Times must not go back.
    package mutating func left(now: MonotonicTime) -> Int {
        if now > turn {
            let passed = min((now - turn).wholeNanoseconds, 1_000_000_000)
            saved = min(perSecond, saved + Int(Double(perSecond) * Double(passed) / 1e9))
            (turn, spent) = (now, 0)
        }
        return max(0, min(perTurn - spent, saved))
    }

    /// Spends `count` bytes. Anything beyond what is left becomes debt.
    package mutating func spend(_ count: Int) {
        spent += max(0, count)
        saved -= max(0, count)
        mostInTurn = max(mostInTurn, spent)
    }
}
