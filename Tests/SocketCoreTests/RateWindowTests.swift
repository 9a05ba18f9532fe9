import SocketCore
import Testing

struct RateWindowTests {
    @Test func thereIsNoRateBeforeTwoSamplesFiftyMillisecondsApart() throws {
        var window = RateWindow()
        #expect(window.perSecond == nil)
        window.sample(total: 0, now: .at(0))
        #expect(window.perSecond == nil)
        window.sample(total: 100, now: .at(49))
        #expect(window.perSecond == nil)
        window.sample(total: 100, now: .at(50))
        let rate = try #require(window.perSecond)
        #expect(abs(rate - 2_000 * (1 - 0.951_229_425)) < 0.001)
    }

    @Test func aSteadyFlowHasASteadyRate() throws {
        var window = RateWindow()
        for tick in 0...300 { window.sample(total: UInt64(tick * 300), now: .at(Int64(tick) * 100)) }
        let rate = try #require(window.perSecond)
        #expect(abs(rate - 3_000) < 0.001)
    }

    @Test func afterOneSecondAChangeCountsForSixtyThreePercent() throws {
        for interval in [Int64(50), 100, 250, 500, 1_000] {
            var window = RateWindow()
            window.sample(total: 0, now: .at(0))
            for time in stride(from: interval, through: 1_000, by: Int(interval)) {
                window.sample(total: UInt64(10 * time), now: .at(time))
            }
            let rate = try #require(window.perSecond)
            #expect(abs(rate - 6_321.205_588) < 0.001, "every \(interval) ms")
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
        #expect(window.perSecond.map { abs($0 - 1_000 * (1 - 0.951_229_425)) < 0.001 } == true, "one sample, at 50 ms")
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
        window.recordIdle(until: .at(60_000))
        window.sample(total: 1_000_000, now: .at(60_100))
        var sampled = RateWindow()
        sampled.sample(total: 0, now: .at(59_900))
        sampled.sample(total: 0, now: .at(60_000))
        sampled.sample(total: 1_000_000, now: .at(60_100))
        #expect(window.perSecond == sampled.perSecond)
        #expect(window.perSecond ?? 0 > 500_000)
    }

    /// The area under what is shown is what passed, whenever that was and however often it is sampled.
    @Test func whatIsShownOfAYoungConnectionAddsUpToWhatPassed() {
        for interval in [Int64(50), 100, 130, 300] {
            var window = RateWindow(since: .at(0), now: .at(interval))
            var area = 0.0
            var most = 0.0
            for time in stride(from: interval, through: 12_000, by: Int(interval)) {
                window.sample(total: 100_000, now: .at(time))
                area += (window.perSecond ?? 0) * Double(interval) / 1_000
                most = max(most, window.perSecond ?? 0)
            }
            #expect(most <= 100_000, "every \(interval) ms")
            // The rate is taken to be 0 once 2 seconds passed without growth, by when 13.5 % of it are left.
            #expect(abs(area / 100_000 - 0.865) < 0.03, "every \(interval) ms: \(area)")
        }
    }

    @Test func aConnectionThatIsOldWhenFirstSampledIsMeasuredFromThen() {
        var window = RateWindow(since: .at(0), now: .at(3_600_000))
        window.sample(total: 1_000_000_000, now: .at(3_600_000))
        #expect(window.perSecond == nil)
        window.sample(total: 1_000_000_000, now: .at(3_600_100))
        #expect(window.perSecond == 0)
    }

    @Test func aRateThatIsNotZeroIsNotTouchedByAPause() {
        var window = RateWindow()
        window.sample(total: 0, now: .at(0))
        window.sample(total: 1_000, now: .at(1_000))
        let rate = window.perSecond
        window.recordIdle(until: .at(1_500))
        #expect(window.perSecond == rate)
        window.sample(total: 1_000, now: .at(4_000))
        #expect(window.perSecond == 0)
    }
}
