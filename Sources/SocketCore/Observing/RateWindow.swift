/// A rate smoothed over one second, from samples of a total that only grows.
///
/// It is an exponential average that starts at 0 and weights each sample by the time since the last one. However often
/// it is sampled, the rates it shows add up to the growth of the total: a burst of 1,000 bytes is shown as at most
/// 1,000 bytes a second, and a steady flow is shown at 63 % after one second and at 95 % after three.
package struct RateWindow {
    private enum State {
        case empty
        case sampled(total: UInt64, time: MonotonicTime)
        case measured(total: UInt64, time: MonotonicTime, grew: MonotonicTime, perSecond: Double)
    }

    private var state = State.empty

    /// Creates an empty window. The first sample starts the measurement.
    package init() {}

    /// Measures from `start`, when the total was 0, if that is recent enough to affect the average. Otherwise measures
    /// from the first sample.
    package init(since start: MonotonicTime, now: MonotonicTime) {
        if now - start <= Self.silence { state = .sampled(total: 0, time: start) }
    }

    /// The growth of the total in a second, or `nil` until there are two samples at least 50 ms apart. A rate below
    /// half a unit a second counts as exactly 0.
    package var perSecond: Double? {
        switch state {
        case .empty, .sampled: nil
        case .measured(_, _, _, let perSecond): perSecond
        }
    }

    /// The last sampled total, or `nil` if there is none.
    package var total: UInt64? {
        switch state {
        case .empty: nil
        case .sampled(let total, _), .measured(let total, _, _, _): total
        }
    }

    /// Records that the total has not grown until `time`, without a sample. The next growth is then measured from
    /// `time`. Has no effect on a rate other than 0, which needs samples to fall.
    package mutating func recordIdle(until time: MonotonicTime) {
        switch state {
        case .sampled(let total, let last) where last < time: state = .sampled(total: total, time: time)
        case .measured(let total, let last, let grew, 0) where last < time:
            state = .measured(total: total, time: time, grew: grew, perSecond: 0)
        case .empty, .sampled, .measured: break
        }
    }

    /// Takes a sample. One that comes less than 50 ms after the last one is merged into the next. A total below the
    /// last one counts as no growth.
    package mutating func sample(total: UInt64, now: MonotonicTime) {
        switch state {
        case .empty:
            state = .sampled(total: total, time: now)
        case .sampled(let lastTotal, let time):
            guard now - time >= RateWindow.leastInterval else { return }
            average(0, from: lastTotal, time, to: total, now: now, grew: now)
        case .measured(let lastTotal, let time, let grew, let average):
            guard now - time >= RateWindow.leastInterval else { return }
            self.average(average, from: lastTotal, time, to: total, now: now, grew: total > lastTotal ? now : grew)
        }
    }

    /// Weights the growth since the last sample into the previous average.
    private mutating func average(
        _ average: Double, from lastTotal: UInt64, _ time: MonotonicTime, to total: UInt64, now: MonotonicTime,
        grew: MonotonicTime
    ) {
        let rate = RateWindow.rate(from: lastTotal, to: total, in: now - time)
        let kept = RateWindow.decay(after: (now - time).inSeconds / RateWindow.timeConstant)
        measured(rate + (average - rate) * kept, total: total, time: now, grew: grew)
    }

    private static let leastInterval = Duration.milliseconds(50)
    /// In seconds.
    private static let timeConstant = 1.0

    private mutating func measured(_ perSecond: Double, total: UInt64, time: MonotonicTime, grew: MonotonicTime) {
        // The tail of the average would show growth long after it stopped.
        let isOver = perSecond < 0.5 || time - grew > RateWindow.silence
        state = .measured(total: total, time: time, grew: grew, perSecond: isOver ? 0 : perSecond)
    }

    /// The rate is 0 after this long without growth.
    private static let silence = Duration.seconds(2)

    private static func rate(from earlier: UInt64, to later: UInt64, in interval: Duration) -> Double {
        Double(later > earlier ? later - earlier : 0) / interval.inSeconds
    }

    /// Returns e to the power of minus `x`, to nine digits, for `x` >= 0. Pure code has no libm, so `x` is halved until
    /// five terms of the series suffice, and the result is squared as often.
    private static func decay(after x: Double) -> Double {
        guard x < 40 else { return 0 }
        var part = x
        var halvings = 0
        while part > 0.03125 {
            part /= 2
            halvings += 1
        }
        var result = 1 - part * (1 - part / 2 * (1 - part / 3 * (1 - part / 4 * (1 - part / 5))))
        for _ in 0..<halvings { result *= result }
        return result
    }
}
