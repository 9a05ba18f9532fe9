import InspectorCore
import SocketCore

/// Leaving the present of a source that can be rewound, and returning to it.
extension Model {
    /// Whether a past instant is shown.
    package var isRewound: Bool { shared.rewind != nil }

    /// Whether the reducer needs the time, because the past is played.
    package var isPlaying: Bool { shared.rewind?.isPlaying ?? false }

    /// How often the user has jumped to another instant.
    package var jump: UInt64 { shared.jump }

    /// Whether there is a past that can be shown.
    var canRewind: Bool { shared.latest?.moment != nil }

    /// Returns the context whose keys take precedence over those of `context`.
    func overlay(_ context: KeyContext) -> KeyContext? {
        isRewound && KeyContext.views.contains(context) ? .rewound : nil
    }

    /// Moves forward or back by `seconds`.
    mutating func moveInstant(bySeconds seconds: Int64) {
        guard let moment = rewindable() else { return }
        show((shared.rewind?.instant ?? moment.last) + seconds * 1_000_000_000, of: moment)
    }

    /// Moves to the event before or after the instant shown.
    mutating func moveInstant(byEvents step: Int) {
        guard let moment = rewindable() else { return }
        guard let event = step < 0 ? moment.previousEvent : moment.nextEvent else {
            notice = hint(step < 0 ? "there is no event before this" : "there is no event after this")
            return
        }
        show(event, of: moment)
    }

    /// Asks for an instant.
    mutating func askForInstant() {
        if rewindable() != nil { field.begin(.instant) }
    }

    /// Jumps to an instant, in nanoseconds from the beginning.
    mutating func goToInstant(_ distance: Int64) -> [Effect] {
        guard let moment = rewindable() else { return [] }
        let (instant, overflow) = moment.origin.addingReportingOverflow(distance)
        show(overflow ? moment.last : instant, of: moment)
        if overflow || instant > moment.last, !moment.isLive {
            notice = hint("it ends at \(InstantText.text(moment.last - moment.origin))")
        }
        return []
    }

    /// Jumps to the instant of the event at the cursor.
    mutating func goToEventInstant() {
        guard let moment = rewindable(), let event = events.current(in: shared), let shown else { return }
        show(shown.wallNanoseconds + (event.time - shown.time).wholeNanoseconds, of: moment)
    }

    /// Returns to the present. For a file that is its end.
    mutating func returnToPresent() {
        guard shared.rewind != nil else { return }
        shared.rewind = nil
        shared.jump += 1
    }

    mutating func togglePlaying() {
        guard let moment = rewindable(), let rewind = shared.rewind else { return }
        if !rewind.isPlaying, rewind.instant >= moment.last {
            notice = hint(naming("this is the end: {rewind} goes back"))
        }
        shared.rewind?.togglePlaying()
    }

    mutating func changePace(_ step: Int) {
        guard rewindable() != nil else { return }
        shared.rewind?.changePace(step)
    }

    /// Handles the passing of time.
    mutating func pass(_ now: MonotonicTime) {
        guard let moment = shared.latest?.moment, let before = shared.rewind else { return }
        shared.rewind?.play(until: now, in: moment)
        // Playing faster than real time eventually reaches the present.
        if moment.isLive, before.isPlaying, shared.rewind?.isPlaying == false { returnToPresent() }
    }

    private mutating func show(_ wanted: Int64, of moment: SnapshotMoment) {
        if moment.isLive, wanted >= moment.last { return returnToPresent() }
        if wanted < moment.first, moment.first > moment.origin { notice = hint(moment.reach) }
        let instant = min(max(wanted, moment.first), moment.last)
        if shared.rewind == nil { shared.rewind = RewindState(instant: instant) }
        shared.rewind?.instant = instant
        shared.frozen = nil
        shared.jump += 1
    }

    private mutating func rewindable() -> SnapshotMoment? {
        if let moment = shared.latest?.moment { return moment }
        notice = error("only an opened file, or a run with --rewind, can be rewound; :rewind 60s keeps the last minute")
        return nil
    }

    /// Whether a snapshot answers the current request. One of another instant starts its own history.
    mutating func begins(with snapshot: EngineSnapshot) -> Bool {
        guard snapshot.jump == shared.jump else { return false }
        if shared.shownJump != shared.jump || snapshot.before != nil {
            shared.shownJump = shared.jump
            startOver()
        }
        for former in snapshot.before ?? [] { recall(former) }
        if snapshot.moment == nil { shared.rewind = nil }
        return true
    }

    /// Forgets the effects of earlier snapshots, because the next one does not follow them.
    private mutating func startOver() {
        shared.forgetHistory()
        refreshed = nil
        events.startOver(in: shared)
    }

    /// Jumps to the instant given on the command line, as soon as it was read.
    mutating func showFirstInstant() {
        guard let distance = shared.awaitedInstant, let moment = shared.latest?.moment else { return }
        let isRead = !shared.programs.isEmpty && shared.programs.allSatisfy(\.hasEnded)
        guard isRead || moment.last - moment.first >= distance else { return }
        shared.awaitedInstant = nil
        _ = goToInstant(distance)
    }
}

extension SnapshotMoment {
    /// How far back a live run can be rewound, in words.
    fileprivate var reach: String {
        let beginning = "nothing before \(InstantText.text(first - origin)) is kept"
        guard dropped > 0 else { return beginning }
        return beginning + "; \(Format.count(Int(clamping: dropped), "snapshot")) dropped early to save room"
    }
}

extension Shared {
    /// The reason why sockets can't be changed while an earlier instant of a live run is shown, or `nil` in the
    /// present.
    var pastRefusal: String? {
        guard rewind != nil, latest?.moment?.isLive == true else { return nil }
        return options.keys.naming("not possible in the past; {present} goes back to the present", in: .rewound)
    }

    /// Returns why a socket is not listed. Numbers ascend, so a higher one than any at an earlier instant came later.
    func absence(of id: SocketID) -> String {
        let isLater = !(shown?.sockets.contains { $0.id.ordinal == id.ordinal && $0.id.number >= id.number } ?? true)
        return rewind != nil && isLater ? "\(id) was not open yet at this time" : "\(id) is no longer listed"
    }
}
