/// Decides when each address of a name is tried, and which attempt becomes the connection (RFC 8305, "Happy Eyeballs").
///
/// Attempts race: the next address is tried when the last one has not answered within the delay, or at once when one is
/// refused. The caller performs what `next` returns until that is `.wait`, `.exhausted` or `.won`. It reports results
/// to `failed` and `succeeded`, and calls `next` again after each and at `deadline`.
package struct ConnectPlan {
    /// What the caller must do next.
    package enum Action: Equatable {
        /// Begin to connect to `addresses[index]`, and call `next` again.
        case attempt(index: Int)
        /// Wait for the result of an attempt or for this time, which is `nil` once every address is being tried.
        case wait(until: MonotonicTime?)
        /// Every address failed, or the plan was abandoned. There will be no connection.
        case exhausted
        /// This attempt is the connection. Close all the others.
        case won(index: Int)
    }

    private struct Attempt {
        let started: MonotonicTime
        var ended: MonotonicTime?
        var outcome: ConnectSnapshot.Attempt.Outcome
    }

    private enum State {
        /// The next address can be tried from this time on.
        case racing(next: MonotonicTime)
        case won(index: Int)
        case abandoned
    }

    /// The addresses in the order in which they are tried. Every index refers to it.
    package let addresses: [SocketAddress]
    private let attemptDelay: Duration
    private var attempts: [Attempt] = []
    private var state = State.racing(next: MonotonicTime(nanoseconds: .min))

    /// The most addresses of one name that are tried, which takes four minutes if none answers.
    package static let mostAddresses = 1_000

    /// Plans to try the first thousand of these addresses, one more after each `attemptDelay`.
    package init(_ addresses: [SocketAddress], prefersIPv6: Bool, attemptDelay: Duration = .milliseconds(250)) {
        let ordered = AddressOrder.interleaved(addresses, prefersIPv6: prefersIPv6)
        self.addresses = Array(ordered.prefix(Self.mostAddresses))
        self.attemptDelay = attemptDelay
    }

    /// Returns what to do now. An attempt counts as started once it is returned.
    package mutating func next(_ now: MonotonicTime) -> Action {
        switch state {
        case .won(let index): return .won(index: index)
        case .abandoned: return .exhausted
        case .racing(let next):
            guard attempts.count < addresses.count else { return isTrying ? .wait(until: nil) : .exhausted }
            guard next <= now else { return .wait(until: next) }
            attempts.append(Attempt(started: now, outcome: .trying))
            state = .racing(next: now + attemptDelay)
            return .attempt(index: attempts.count - 1)
        }
    }

    /// Records that an attempt failed, so the next address can be tried at once. Has no effect if the attempt has
    /// ended.
    package mutating func failed(_ index: Int, errno: Int32, now: MonotonicTime) {
        guard end(index, as: .failed(errno: errno), now: now) else { return }
        switch state {
        case .racing: state = .racing(next: now)
        case .won, .abandoned: break
        }
    }

    /// Records that an attempt connected. It wins, and all other attempts are abandoned. Has no effect if the attempt
    /// has ended, so one that succeeds after another won stays abandoned.
    package mutating func succeeded(_ index: Int, now: MonotonicTime) {
        guard end(index, as: .won, now: now) else { return }
        abandonAttempts(now: now)
        state = .won(index: index)
    }

    /// Abandons all attempts, because of the timeout or at the caller's request. Has no effect if one has won.
    package mutating func abandon(now: MonotonicTime) {
        switch state {
        case .racing:
            abandonAttempts(now: now)
            state = .abandoned
        case .won, .abandoned: break
        }
    }

    /// The time at which to call `next` again, or `nil` if only the result of an attempt matters.
    package var deadline: MonotonicTime? {
        switch state {
        case .racing(let next): attempts.count < addresses.count ? next : nil
        case .won, .abandoned: nil
        }
    }

    /// Returns every attempt so far, for the error of a failed connect. Their indices are those of `addresses`.
    package func attempts(_ now: MonotonicTime) -> [SocketError.Attempt] {
        zip(addresses, attempts).map { address, attempt in
            SocketError.Attempt(
                address: address, errno: attempt.outcome.errno, duration: (attempt.ended ?? now) - attempt.started)
        }
    }

    /// Returns a snapshot of the plan. `resolvedIn` is how long the resolver took.
    package func snapshot(resolvedIn: Duration?, now: MonotonicTime) -> ConnectSnapshot {
        ConnectSnapshot(
            resolvedIn: resolvedIn, addressCount: addresses.count,
            attempts: zip(addresses, attempts).map { address, attempt in
                ConnectSnapshot.Attempt(
                    address: address, outcome: attempt.outcome, duration: (attempt.ended ?? now) - attempt.started)
            })
    }

    private var isTrying: Bool { attempts.contains { $0.outcome == .trying } }

    private mutating func end(_ index: Int, as outcome: ConnectSnapshot.Attempt.Outcome, now: MonotonicTime) -> Bool {
        guard attempts.indices.contains(index), attempts[index].outcome == .trying else { return false }
        attempts[index].outcome = outcome
        attempts[index].ended = now
        return true
    }

    private mutating func abandonAttempts(now: MonotonicTime) {
        for index in attempts.indices { _ = end(index, as: .abandoned, now: now) }
    }
}

extension ConnectSnapshot.Attempt.Outcome {
    /// The errno it failed with, or `nil` if it did not fail.
    fileprivate var errno: Int32? {
        switch self {
        case .failed(let errno): errno
        case .trying, .won, .abandoned: nil
        }
    }
}
