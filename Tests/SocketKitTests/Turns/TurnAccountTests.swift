import Testing

@testable import SocketKit

/// What a turn may still do.
@Suite struct TurnAccountTests {
    private func account(jobs: Int = 8, callbacks: Int = 4, bytes: Int = 1_000) -> TurnAccount {
        var budget = TurnBudget()
        (budget.jobs, budget.callbacks, budget.bytes) = (jobs, callbacks, bytes)
        return TurnAccount(budget)
    }

    @Test func halfOfTheBytesAreForWhatIsReady() {
        var account = account()
        account.open(moved: 5_000)
        #expect(!account.isSpent(moved: 5_499) && account.isSpent(moved: 5_500))
        account.beginReadiness(waiting: 0)
        #expect(!account.isSpent(moved: 5_999) && account.isSpent(moved: 6_000))
        account.close(moved: 6_100)
        #expect(account.tally.bytes == 1_100 && !account.isSpent(moved: 1 << 60))
    }

    @Test func readinessLeavesOffAtTheLimitOfEach() {
        var account = account()
        account.open(moved: 0)
        account.beginReadiness(waiting: 3)
        #expect(!account.mustLeaveOff(waiting: 6, moved: 0))
        #expect(account.mustLeaveOff(waiting: 7, moved: 0))
        #expect(account.mustLeaveOff(waiting: 0, moved: 1_000))
        account.made(callbacks: 3)
        account.lentOne()
        #expect(account.mustLeaveOff(waiting: 0, moved: 0))
    }

    @Test func callbacksThatReportsLedToComeBeforeNewReports() {
        var account = account()
        account.open(moved: 0)
        account.beginReadiness(waiting: 0)
        account.endReadiness(waiting: 6)
        account.made(callbacks: 4)
        account.close(moved: 0)
        account.open(moved: 0)
        #expect(!account.mayDispatch(waiting: 2))
        // Those that came later do not count, nor those that were taken out otherwise.
        #expect(account.mayDispatch(waiting: 0))
        account.made(callbacks: 2)
        #expect(account.mayDispatch(waiting: 9))
    }

    @Test func aTurnBeginsWithAllOfItsBudget() {
        var account = account()
        account.open(moved: 0)
        account.carriedOut(jobs: 8)
        account.made(callbacks: 4)
        #expect(account.jobsLeft == 0 && account.callbacksLeft == 0)
        account.close(moved: 10)
        #expect(account.jobsLeft == 8 && account.callbacksLeft == 4 && !account.isOpen)
        #expect((account.tally.jobs, account.tally.callbacks, account.tally.bytes) == (8, 4, 10))
        account.open(moved: 10)
        #expect(account.tally == TurnTally() && account.isOpen)
    }

    @Test func bytesOfACallThatWaitsForTheEngineAreLeftOutOnce() {
        var account = account()
        account.open(moved: 0)
        // A call within a call: the inner one moved 300, the outer one 500 in all.
        let start = account.movedAtStart
        account.leaveOut(moved: 400, since: 100, atStart: start)
        account.leaveOut(moved: 600, since: 100, atStart: start)
        #expect(!account.isSpent(moved: 999) && account.isSpent(moved: 1_000))
        account.close(moved: 700)
        #expect(account.tally.bytes == 200)
    }

    @Test func aCallThatPromisesToSendLiftsTheLimitMeanwhile() {
        var account = account()
        account.open(moved: 0)
        let former = account.lift()
        #expect(!account.isSpent(moved: 1 << 60))
        account.limit(former)
        #expect(account.isSpent(moved: 500))
    }
}
