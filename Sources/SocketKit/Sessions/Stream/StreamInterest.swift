import SocketCore

/// What a stream wants of the reactor, and everything that decides it.
///
/// A value that does no I/O: the connection says what happened, asks for `change` at the end of each step, and carries that
/// out. Bytes that nobody reads stay in the kernel, so that the peer feels it: read interest is off meanwhile.
struct StreamInterest {
    /// What the reactor has to do.
    enum Change: Equatable {
        case none
        case add(Interest)
        case modify(Interest)
        case remove
    }

    /// Since when bytes (or the end of the stream) are there that no read takes.
    private(set) var unreadSince = PackedTime()
    /// Since when the peer is known to have sent FIN, while unread bytes may lie before it.
    private(set) var peerClosedSince = PackedTime()
    /// What the reactor watches the descriptor for; nil: it is not in the reactor's set.
    private(set) var registered: Interest?
    /// Whether no read takes what is there.
    private(set) var isReadingOff = false
    private(set) var knowsPeerClosed = false
    /// The kernel refused bytes; write interest is on until it has room again.
    var isWriteBlocked = false
    /// There is more to send and room for it, but other sockets come first.
    var isSendBudgetSpent = false
    /// EPOLLHUP was reported. It cannot be masked, so the descriptor leaves the set and is tried directly.
    var isHungUp = false

    /// No read takes what is there.
    mutating func stopReading(_ now: MonotonicTime) {
        guard !isReadingOff else { return }
        isReadingOff = true
        unreadSince = PackedTime(now)
    }

    /// Reads take what is there again.
    mutating func resumeReading() {
        guard isReadingOff else { return }
        isReadingOff = false
        unreadSince = PackedTime()
    }

    /// The peer has sent FIN.
    mutating func notePeerClosed(_ now: MonotonicTime) {
        guard !knowsPeerClosed else { return }
        knowsPeerClosed = true
        peerClosedSince = PackedTime(now)
    }

    /// What is to be watched; nil: nothing that the reactor can report. `canReceive`: the peer's stream has not ended.
    @inline(__always)
    func desired(canReceive: Bool) -> Interest? {
        guard !isHungUp else { return nil }
        var interest: Interest = []
        if canReceive {
            // With read interest off, FIN alone is reported, once.
            if !isReadingOff { interest.insert(.read) } else if !knowsPeerClosed { interest.insert(.peerClosed) }
        }
        if isWriteBlocked || isSendBudgetSpent { interest.insert(.write) }
        return interest
    }

    /// What the reactor has to do so that it watches what is wanted, which counts as done.
    @inline(__always)
    mutating func change(canReceive: Bool) -> Change {
        let wanted = desired(canReceive: canReceive)
        guard wanted != registered else { return .none }
        let isInSet = registered != nil
        registered = wanted
        guard let wanted else { return .remove }
        return isInSet ? .modify(wanted) : .add(wanted)
    }

    /// The descriptor leaves the set; false if it was not in it.
    mutating func leave() -> Bool {
        defer { registered = nil }
        return registered != nil
    }
}
