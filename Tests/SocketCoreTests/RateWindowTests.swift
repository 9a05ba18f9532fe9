import SocketCore
import Testing

struct RateWindowTests {
    @Test func thereIsNoRateBeforeTwoSamplesFiftyMillisecondsApart() {
        var window = RateWindow()
        #expect(window.perSecond == nil)
        window.sample(total: 0, now: .at(0))
        #expect(window.perSecond == nil)
        window.sample(total: 100, now: .at(49))
        #expect(window.perSecond == nil)
        window.sample(total: 100, now: .at(50))
        #expect(window.perSecond == 2_000)
    }

    @Test func aSteadyFlowHasASteadyRate() throws {
        var window = RateWindow()
        for tick in 0...100 { window.sample(total: UInt64(tick * 300), now: .at(Int64(tick) * 100)) }
        let rate = try #require(window.perSecond)
        #expect(abs(rate - 3_000) < 0.001)
    }

    @Test func afterOneSecondAChangeCountsForSixtyThreePercent() throws {
        for interval in [Int64(50), 100, 250, 500, 1_000] {
            var window = RateWindow()
            window.sample(total: 0, now: .at(0))
            window.sample(total: 10_000, now: .at(1_000))
            for time in stride(from: 1_000 + interval, through: 2_000, by: Int(interval)) {
                window.sample(total: 10_000, now: .at(time))
            }
            let rate = try #require(window.perSecond)
            #expect(abs(rate - 3_678.794_412) < 0.001, "every \(interval) ms")
        }
    }

    @Test func aQuietConnectionFallsToExactlyZero() {
        var window = RateWindow()
        window.sample(total: 0, now: .at(0))
        window.sample(total: 1_000_000, now: .at(1_000))
        for second in 2...3 { window.sample(total: 1_000_000, now: .at(Int64(second) * 1_000)) }
        #expect(window.perSecond.map { $0 > 0 } == true)
        window.sample(total: 1_000_000, now: .at(3_100))
        #expect(window.perSecond == 0, "two seconds of silence are no rate, however high it was")
    }

    @Test func aLongPauseLeavesNothingOfTheOldRate() {
        var window = RateWindow()
        window.sample(total: 0, now: .at(0))
        window.sample(total: 1_000_000_000, now: .at(1_000))
        window.sample(total: 1_000_000_000, now: .at(3_600_000))
        #expect(window.perSecond == 0)
    }

    @Test func samplesThatComeTooSoonAreLeftToTheNext() {
        var window = RateWindow()
        window.sample(total: 0, now: .at(0))
        for time in 1...99 { window.sample(total: UInt64(time), now: .at(Int64(time))) }
        #expect(window.perSecond == 1_000)
    }

    @Test func aTotalThatShrinksCountsAsNoGrowth() {
        var window = RateWindow()
        window.sample(total: 100, now: .at(0))
        window.sample(total: 50, now: .at(100))
        #expect(window.perSecond == 0)
    }

    @Test func whatGrowsBehindAPauseThatNobodySampledGrewSinceItsEnd() {
        var window = RateWindow()
        window.sample(total: 0, now: .at(0))
        window.sample(total: 0, now: .at(100))
        window.stood(until: .at(60_000))
        window.sample(total: 1_000_000, now: .at(60_100))
        var sampled = RateWindow()
        sampled.sample(total: 0, now: .at(59_900))
        sampled.sample(total: 0, now: .at(60_000))
        sampled.sample(total: 1_000_000, now: .at(60_100))
        #expect(window.perSecond == sampled.perSecond)
        #expect(window.perSecond ?? 0 > 500_000)
    }

    @Test func aRateThatIsNotZeroIsNotTouchedByAPause() {
        var window = RateWindow()
        window.sample(total: 0, now: .at(0))
        window.sample(total: 1_000, now: .at(1_000))
        let rate = window.perSecond
        window.stood(until: .at(1_500))
        #expect(window.perSecond == rate)
        window.sample(total: 1_000, now: .at(4_000))
        #expect(window.perSecond == 0)
    }
}
