/// What may be spent on inflating the compressed messages of others, in bytes that go in and come out.
///
/// A kilobyte can inflate to a megabyte, and whoever inflates on an engine's queue holds up every other connection of
/// that engine. So there is a limit for one turn, which bounds the delay, and one for a second, which bounds the load.
/// What is beyond them is not inflated, and counted.
package struct InflationBudget: Sendable {
    private let perTurn: Int
    private let perSecond: Int
    /// The present turn, named by its time, and what it may still spend.
    private var turn: MonotonicTime
    private var spent = 0
    /// What the second may still spend.
    private var saved: Int
    /// The most that one turn has spent.
    package private(set) var mostInTurn = 0

    /// A budget that is whole. Limits below 0 count as 0.
    package init(perTurn: Int, perSecond: Int, now: MonotonicTime) {
        self.perTurn = max(0, perTurn)
        self.perSecond = max(0, perSecond)
        turn = now
        saved = self.perSecond
    }

    /// Of an engine: some milliseconds of a turn, and a twentieth of a processor.
    package static func ofEngine(now: MonotonicTime) -> InflationBudget {
        InflationBudget(perTurn: 4 << 20, perSecond: 32 << 20, now: now)
    }

    /// Of one connection, so that one alone cannot use up what all have.
    package static func ofConnection(now: MonotonicTime) -> InflationBudget {
        InflationBudget(perTurn: 2 << 20, perSecond: 8 << 20, now: now)
    }

    /// What may be spent at that time; times do not go back.
    package mutating func left(now: MonotonicTime) -> Int {
        if now > turn {
            let passed = min((now - turn).wholeNanoseconds, 1_000_000_000)
            saved = min(perSecond, saved + Int(Double(perSecond) * Double(passed) / 1e9))
            (turn, spent) = (now, 0)
        }
        return max(0, min(perTurn - spent, saved))
    }

    /// Takes so much of it. More than was left is a debt.
    package mutating func spend(_ count: Int) {
        spent += max(0, count)
        saved -= max(0, count)
        mostInTurn = max(mostInTurn, spent)
    }
}
