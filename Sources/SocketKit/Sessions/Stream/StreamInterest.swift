import SocketCore

/// What a stream needs from the reactor, and everything that decides it.
///
/// A value that does no I/O. The connection reports what happened, calls `change` at the end of each step, and carries
/// out the result. Read interest is off while no read wants the waiting bytes, so that they stay in the kernel and the
/// peer slows down.
struct StreamInterest {
    /// What the reactor must do.
    enum Change: Equatable {
        case none
        case add(Interest)
        case modify(Interest)
        case remove
    }

    /// Since when bytes or the end of the stream have been waiting without a read.
    private(set) var unreadSince = PackedTime()
    /// Since when the peer is known to have sent FIN. Unread bytes may precede it.
    private(set) var peerClosedSince = PackedTime()
    /// The interest registered with the reactor, or `nil` if the descriptor isn't in its set.
    private(set) var registered: Interest?
    /// Set while no read wants the waiting bytes.
    private(set) var isReadingOff = false
    private(set) var knowsPeerClosed = false
    /// Set while the kernel's send buffer is full. Write interest is on until there is room.
    var isWriteBlocked = false
    /// Set when there is more to send and room for it, but other sockets come first.
    var isSendBudgetSpent = false
    /// Whether urgent data is received in line, and reported.
    var takesUrgentInLine = false
    /// Set once EPOLLHUP was reported. It can't be masked, so the descriptor is removed from the set and tried
    /// directly.
    var isHungUp = false

    /// Called when no read wants the waiting bytes.
    mutating func stopReading(_ now: MonotonicTime) {
        guard !isReadingOff else { return }
        isReadingOff = true
        unreadSince = PackedTime(now)
    }

    mutating func resumeReading() {
        guard isReadingOff else { return }
        isReadingOff = false
        unreadSince = PackedTime()
    }

    mutating func notePeerClosed(_ now: MonotonicTime) {
        guard !knowsPeerClosed else { return }
        knowsPeerClosed = true
        peerClosedSince = PackedTime(now)
    }

    /// Returns the interest to register, or `nil` if the descriptor must leave the set. `canReceive` is false after the
    /// peer's end of stream.
    @inline(__always)
    func desired(canReceive: Bool) -> Interest? {
        guard !isHungUp else { return nil }
        var interest: Interest = []
        if canReceive {
            // With read interest off, only FIN is reported, once.
            if !isReadingOff {
                interest.insert(.read)
                if takesUrgentInLine { interest.insert(.urgent) }
            } else if !knowsPeerClosed {
                interest.insert(.peerClosed)
            }
        }
        if isWriteBlocked || isSendBudgetSpent { interest.insert(.write) }
        return interest
    }

    /// Returns what the reactor must do to register the desired interest, and assumes that it is done.
    @inline(__always)
    mutating func change(canReceive: Bool) -> Change {
        let wanted = desired(canReceive: canReceive)
        guard wanted != registered else { return .none }
        let isInSet = registered != nil
        registered = wanted
        guard let wanted else { return .remove }
        return isInSet ? .modify(wanted) : .add(wanted)
    }

    /// Returns false if the descriptor wasn't in the set.
    mutating func leave() -> Bool {
        defer { registered = nil }
        return registered != nil
    }
}
