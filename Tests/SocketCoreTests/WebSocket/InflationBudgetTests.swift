import Testing

@testable import SocketCore

@Suite("What may be inflated of others' messages")
struct InflationBudgetTests {
    private static func time(_ milliseconds: Int) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    @Test("a turn has its limit, and the next one has it again")
    func turns() {
        var budget = InflationBudget(perTurn: 100, perSecond: 1_000, now: .zero)
        #expect(budget.left(now: .zero) == 100)
        budget.spend(60)
        #expect(budget.left(now: .zero) == 40)
        budget.spend(41)
        #expect(budget.left(now: .zero) == 0 && budget.mostInTurn == 101)
        #expect(budget.left(now: Self.time(1)) == 100)
    }

    @Test("a second has its limit, however many turns it has")
    func seconds() {
        var budget = InflationBudget(perTurn: 100, perSecond: 1_000, now: .zero)
        var spent = 0
        for millisecond in 0..<5_000 {
            let left = budget.left(now: Self.time(millisecond))
            #expect(left <= 100)
            budget.spend(left)
            spent += left
        }
        // What was saved at the beginning, and five seconds.
        #expect(spent <= 6_000 && spent > 5_900)
        #expect(budget.left(now: Self.time(60_000)) == 100)
    }

    @Test("a debt is paid first, and what is saved has its limit")
    func debts() {
        var budget = InflationBudget(perTurn: 1_000, perSecond: 100, now: .zero)
        budget.spend(150)
        #expect(budget.left(now: Self.time(400)) == 0)
        #expect(budget.left(now: Self.time(1_000)) == 50)
        #expect(budget.left(now: Self.time(9_000)) == 100)
        #expect(InflationBudget(perTurn: -1, perSecond: .max, now: .zero).mostInTurn == 0)
    }
}
