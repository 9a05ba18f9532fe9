import SocketCore

/// One call of a delegate.
protocol WeighedNotice: Sendable {
    /// The memory that it takes up while it waits for the delegate's queue; see `BackPressure`.
    var weight: Int { get }
}

/// A handle that calls its delegate on a queue. In what order and by which thread is decided by `DelegatePump`.
///
/// All kinds of handles hold back by the rule that stands here. A notice is weighed when it is sent to the delegate's
/// queue, and its weight is removed when the delegate has returned. From when too much waits until most of it is
/// delivered, the session takes nothing more from the kernel; `caughtUp` tells it that it may go on.
protocol DeliveringHandle: AnyObject, Sendable {
    associatedtype Notice: WeighedNotice

    var engine: SocketEngine { get }
    var session: SocketID? { get }
    /// What waits for the user.
    var backPressure: BackPressure { get }

    /// Calls the delegate.
    func call(_ notice: Notice)
    /// Sends a notice to the delegate's queue, on which `deliverHere` is to be called with it.
    func send(_ notice: Notice, by pump: DelegatePump)
    /// Tells the session that it may go on.
    func postCaughtUp()
}

extension DeliveringHandle {
    /// Calls the delegate by `pump`; nil: here. True if so much waits for its queue that the session must take nothing
    /// more; `caughtUp` is posted when that is over.
    @discardableResult
    @inline(never)
    func deliver(_ notice: Notice, by pump: DelegatePump?) -> Bool {
        if let pump { return weigh(notice, andSendBy: pump) }
        call(notice)
        return false
    }

    /// The same where there is a pump. Not inlined, or callers would become too large for what they do without a pump to
    /// be inlined, which costs each notice more than the call.
    @inline(never)
    func weigh(_ notice: Notice, andSendBy pump: DelegatePump) -> Bool {
        let mustHoldBack = backPressure.add(notice.weight)
        send(notice, by: pump)
        return mustHoldBack
    }

    /// The same for a notice that was weighed already, when the session decided on it.
    func deliverWeighed(_ notice: Notice, by pump: DelegatePump?) {
        guard let pump else { return deliverHere(notice) }
        send(notice, by: pump)
    }

    /// Calls the delegate with a notice that was weighed.
    func deliverHere(_ notice: Notice) {
        call(notice)
        wasDelivered(notice.weight)
    }

    /// The user has what weighs this.
    func wasDelivered(_ weight: Int) {
        if weight > 0, backPressure.remove(weight) { postCaughtUp() }
    }

    func send(_ notice: Notice, by pump: DelegatePump) {
        pump.append { [self] in deliverHere(notice) }
    }

    func postCaughtUp() {
        if let session { engine.post(.caughtUp(session)) }
    }
}

/// A notice for the one who was the delegate when it was sent.
struct AddressedNotice<Delegate: Sendable, Content: WeighedNotice>: WeighedNotice {
    let delegate: Delegate?
    let content: Content

    var weight: Int { content.weight }
}
