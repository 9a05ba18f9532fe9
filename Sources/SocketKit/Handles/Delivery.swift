import SocketCore

/// One call of a delegate.
protocol WeighedNotice: Sendable {
    /// The memory that it takes up while it waits for the delegate's queue. See `BackPressure`.
    var weight: Int { get }
}

/// A handle that calls its delegate on a queue. `DelegatePump` decides the order and the thread.
///
/// All kinds of handles hold back by the same rule. A notice is weighed when it is sent to the delegate's queue, and
/// its weight is removed when the delegate has returned. Once too much waits, the session stops reading from the kernel
/// until most of it is delivered; `caughtUp` then resumes it.
protocol DeliveringHandle: AnyObject, Sendable {
    associatedtype Notice: WeighedNotice

    var engine: SocketEngine { get }
    var session: SocketID? { get }
    /// The weight of what waits for the user.
    var backPressure: BackPressure { get }

    func call(_ notice: Notice)
    /// Sends a notice to the delegate's queue, which then calls `deliverHere` with it.
    func send(_ notice: Notice, by pump: DelegatePump)
    /// Resumes a session that holds back.
    func postCaughtUp()
}

extension DeliveringHandle {
    /// Calls the delegate through `pump`, or here if it is `nil`. Returns `true` if so much waits for its queue that
    /// the session must stop reading; `caughtUp` is posted when it can resume.
    @discardableResult
    @inline(never)
    func deliver(_ notice: Notice, by pump: DelegatePump?) -> Bool {
        if let pump { return weigh(notice, andSendBy: pump) }
        call(notice)
        return false
    }

    /// Weighs a notice and sends it by `pump`, with the result of `deliver(_:by:)`. Not inlined, because callers would
    /// become too large to be inlined themselves, which costs each notice without a pump more than the call.
    @inline(never)
    func weigh(_ notice: Notice, andSendBy pump: DelegatePump) -> Bool {
        let mustHoldBack = backPressure.add(notice.weight)
        send(notice, by: pump)
        return mustHoldBack
    }

    /// Delivers a notice that was weighed already, when the session decided on it.
    func deliverWeighed(_ notice: Notice, by pump: DelegatePump?) {
        guard let pump else { return deliverHere(notice) }
        send(notice, by: pump)
    }

    /// Calls the delegate with a weighed notice, and removes its weight.
    func deliverHere(_ notice: Notice) {
        call(notice)
        wasDelivered(notice.weight)
    }

    /// Removes the weight of what the user has received.
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

/// A notice for the delegate that was set when it was sent.
struct AddressedNotice<Delegate: Sendable, Content: WeighedNotice>: WeighedNotice {
    let delegate: Delegate?
    let content: Content

    var weight: Int { content.weight }
}
