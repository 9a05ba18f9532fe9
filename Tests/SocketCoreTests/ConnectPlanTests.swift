import SocketCore
import SocketTestSupport
import Testing

struct ConnectPlanTests {
    private let first4 = SocketAddress.v4(host: "192.0.2.1", port: 80)
    private let second4 = SocketAddress.v4(host: "192.0.2.2", port: 80)
    private let third4 = SocketAddress.v4(host: "192.0.2.3", port: 80)
    private let first6 = SocketAddress.v6(host: "2001:db8::1", port: 80)
    private let second6 = SocketAddress.v6(host: "2001:db8::2", port: 80)

    @Test func familiesTakeTurnsFromThePreferredOneOn() {
        let addresses = [first4, second4, third4, first6, second6]
        #expect(
            AddressOrder.interleaved(addresses, prefersIPv6: true) == [first6, first4, second6, second4, third4])
        #expect(
            AddressOrder.interleaved(addresses, prefersIPv6: false) == [first4, first6, second4, second6, third4])
        #expect(AddressOrder.interleaved([first4], prefersIPv6: true) == [first4])
        #expect(AddressOrder.interleaved([], prefersIPv6: true).isEmpty)
    }

    @Test func theNextAddressIsTriedWhenTheDelayIsOver() {
        var plan = ConnectPlan([first4, first6, second4], prefersIPv6: false)
        #expect(plan.next(.at(10)) == .attempt(index: 0))
        #expect(plan.next(.at(10)) == .wait(until: .at(260)))
        #expect(plan.deadline == .at(260))
        #expect(plan.next(.at(259)) == .wait(until: .at(260)))
        #expect(plan.next(.at(260)) == .attempt(index: 1))
        #expect(plan.next(.at(300)) == .wait(until: .at(510)))
        #expect(plan.next(.at(600)) == .attempt(index: 2))
        #expect(plan.next(.at(600)) == .wait(until: nil))
        #expect(plan.deadline == nil)
    }

    @Test func aRefusalMovesOnAtOnce() {
        var plan = ConnectPlan([first6, first4], prefersIPv6: true, attemptDelay: .seconds(9))
        #expect(plan.next(.zero) == .attempt(index: 0))
        plan.failed(0, errno: 111, now: .at(1))
        #expect(plan.deadline == .at(1))
        #expect(plan.next(.at(1)) == .attempt(index: 1))
        #expect(plan.next(.at(1)) == .wait(until: nil))
    }

    @Test func aPlanIsExhaustedOnlyWhenEveryAttemptFailed() {
        var plan = ConnectPlan([first4, second4], prefersIPv6: false)
        _ = plan.next(.zero)
        _ = plan.next(.at(250))
        plan.failed(1, errno: 111, now: .at(260))
        #expect(plan.next(.at(260)) == .wait(until: nil))
        plan.failed(0, errno: 110, now: .at(900))
        #expect(plan.next(.at(900)) == .exhausted)
        #expect(
            plan.attempts(.at(999)) == [
                SocketError.Attempt(address: first4, errno: 110, duration: .milliseconds(900)),
                SocketError.Attempt(address: second4, errno: 111, duration: .milliseconds(10)),
            ])
    }

    @Test func aPlanWithoutAddressesIsExhausted() {
        var plan = ConnectPlan([], prefersIPv6: true)
        #expect(plan.next(.zero) == .exhausted)
        #expect(plan.deadline == nil)
    }

    @Test func theFirstThatSucceedsWinsAndTheOthersAreAbandoned() {
        var plan = ConnectPlan([first6, first4, second6], prefersIPv6: true)
        _ = plan.next(.zero)
        _ = plan.next(.at(250))
        plan.succeeded(1, now: .at(300))
        #expect(plan.next(.at(300)) == .won(index: 1))
        #expect(plan.next(.at(900)) == .won(index: 1))
        #expect(plan.deadline == nil)
        let snapshot = plan.snapshot(resolvedIn: .milliseconds(4), now: .at(999))
        #expect(snapshot.resolvedIn == .milliseconds(4))
        #expect(snapshot.addressCount == 3)
        #expect(snapshot.attempts.map(\.outcome) == [.abandoned, .won])
        #expect(snapshot.attempts.map(\.duration) == [.milliseconds(300), .milliseconds(50)])
        #expect(snapshot.attempts.map(\.address) == [first6, first4])
    }

    @Test func lateAnswersHaveNoEffect() {
        var plan = ConnectPlan([first4, second4], prefersIPv6: false)
        _ = plan.next(.zero)
        _ = plan.next(.at(250))
        plan.succeeded(0, now: .at(300))
        plan.succeeded(1, now: .at(301))
        plan.failed(1, errno: 111, now: .at(302))
        plan.failed(0, errno: 111, now: .at(303))
        plan.abandon(now: .at(304))
        #expect(plan.next(.at(305)) == .won(index: 0))
        #expect(plan.snapshot(resolvedIn: nil, now: .at(305)).attempts.map(\.outcome) == [.won, .abandoned])
    }

    @Test func answersForAttemptsThatNeverBeganHaveNoEffect() {
        var plan = ConnectPlan([first4, second4], prefersIPv6: false)
        _ = plan.next(.zero)
        plan.succeeded(1, now: .at(1))
        plan.failed(7, errno: 111, now: .at(1))
        #expect(plan.next(.at(1)) == .wait(until: .at(250)))
    }

    @Test func anAbandonedPlanTriesNothingMore() {
        var plan = ConnectPlan([first4, second4], prefersIPv6: false)
        _ = plan.next(.zero)
        plan.abandon(now: .at(100))
        plan.succeeded(0, now: .at(101))
        #expect(plan.next(.at(500)) == .exhausted)
        #expect(plan.deadline == nil)
        #expect(
            plan.attempts(.at(500)) == [
                SocketError.Attempt(address: first4, errno: nil, duration: .milliseconds(100))
            ])
    }

    @Test func anAttemptThatStillTriesGrowsOlder() {
        var plan = ConnectPlan([first4], prefersIPv6: false)
        _ = plan.next(.at(10))
        #expect(plan.snapshot(resolvedIn: nil, now: .at(30)).attempts.map(\.duration) == [.milliseconds(20)])
        #expect(plan.snapshot(resolvedIn: nil, now: .at(40)).attempts.map(\.outcome) == [.trying])
    }

    /// Whatever happens in whatever order, at most one attempt wins, each address is tried once and in order, and the
    /// plan is exhausted exactly when all have failed.
    @Test func anyOrderOfAnswersLeadsToOneEnd() {
        for seed in 0..<2_000 {
            var generator = SplitMix64(seed: UInt64(seed))
            let count = Int.random(in: 1...5, using: &generator)
            let addresses = (0..<count).map { SocketAddress.v4(host: "192.0.2.\($0)", port: 1) }
            var plan = ConnectPlan(addresses, prefersIPv6: false)
            var begun = 0
            var end: ConnectPlan.Action?
            var now = MonotonicTime.zero
            for _ in 0..<200 where end == nil {
                now = now + .milliseconds(Int.random(in: 0...120, using: &generator))
                switch plan.next(now) {
                case .attempt(let index):
                    #expect(index == begun)
                    begun += 1
                case .wait:
                    let index = Int.random(in: 0..<count, using: &generator)
                    let succeeds = Int.random(in: 0..<6, using: &generator) == 0
                    if succeeds { plan.succeeded(index, now: now) } else { plan.failed(index, errno: 111, now: now) }
                case .exhausted: end = .exhausted
                case .won(let index): end = .won(index: index)
                }
            }
            let outcomes = plan.snapshot(resolvedIn: nil, now: now).attempts.map(\.outcome)
            switch end {
            case .exhausted: #expect(outcomes == addresses.map { _ in .failed(errno: 111) })
            case .won(let index):
                #expect(outcomes.indices.filter { outcomes[$0] == .won } == [index])
                #expect(!outcomes.contains(.trying))
            case .attempt, .wait, nil: Issue.record("seed \(seed) did not end")
            }
        }
    }
}
