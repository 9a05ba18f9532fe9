import Foundation
import SocketKit

extension GCDAsyncSocket {
    /// Whom callbacks go to; held weakly. A change concerns callbacks that have not begun.
    public weak var delegate: (any GCDAsyncSocketDelegate)? {
        get { state.withLock { Unchecked($0.delegate.object) }.value }
        set { change { $0.delegate = WeakDelegate(newValue) } }
    }

    /// Where callbacks come; nil: nobody is called.
    public var delegateQueue: DispatchQueue? {
        get { state.withLock { $0.delegateQueue } }
        set { change { $0.delegateQueue = newValue } }
    }

    /// Reads both as they are at one instant.
    public func getDelegate(
        _ delegatePtr: UnsafeMutablePointer<(any GCDAsyncSocketDelegate)?>?,
        delegateQueue delegateQueuePtr: UnsafeMutablePointer<DispatchQueue?>?
    ) {
        let (delegate, queue) = state.withLock { Unchecked(($0.delegate.object, $0.delegateQueue)) }.value
        delegatePtr?.pointee = delegate
        delegateQueuePtr?.pointee = queue
    }

    /// Sets both together.
    public func setDelegate(_ delegate: (any GCDAsyncSocketDelegate)?, delegateQueue: DispatchQueue?) {
        change { state in
            state.delegate = WeakDelegate(delegate)
            state.delegateQueue = delegateQueue
        }
    }

    /// Sets the delegate; it has taken effect when this returns, as everywhere here.
    public func synchronouslySetDelegate(_ delegate: (any GCDAsyncSocketDelegate)?) { self.delegate = delegate }

    /// Sets the queue, likewise.
    public func synchronouslySetDelegateQueue(_ delegateQueue: DispatchQueue?) { self.delegateQueue = delegateQueue }

    /// Sets both together, likewise.
    public func synchronouslySetDelegate(_ delegate: (any GCDAsyncSocketDelegate)?, delegateQueue: DispatchQueue?) {
        setDelegate(delegate, delegateQueue: delegateQueue)
    }

    private func change(_ body: (inout State) -> Void) {
        let (session, delegate, queue) = state.withLock { state in
            body(&state)
            return Unchecked((state.session, state.delegate.object, state.delegateQueue))
        }.value
        session.setDelegate(delegate, on: queue)
    }

    private func set(_ body: (inout SocketConfiguration) -> Void) {
        state.withLock { body(&$0.configuration) }
    }

    /// Whether IPv4 is used; it concerns the next accept or connect.
    public var isIPv4Enabled: Bool {
        get { state.withLock { $0.configuration.isIPv4Enabled } }
        set { set { $0.isIPv4Enabled = newValue } }
    }

    /// Whether IPv6 is used; it concerns the next accept or connect.
    public var isIPv6Enabled: Bool {
        get { state.withLock { $0.configuration.isIPv6Enabled } }
        set { set { $0.isIPv6Enabled = newValue } }
    }

    /// Which family a connect tries first where a name has both; IPv4 by default.
    public var isIPv4PreferredOverIPv6: Bool {
        get { state.withLock { !$0.configuration.prefersIPv6 } }
        set { set { $0.prefersIPv6 = !newValue } }
    }

    /// How long a connect waits for one address before it tries the next as well, in seconds; 0.3 by default. After a
    /// refusal it does not wait.
    public var alternateAddressDelay: TimeInterval {
        get { state.withLock { $0.configuration.attemptDelay }.seconds }
        set { set { $0.attemptDelay = Duration(timeout: newValue) ?? .zero } }
    }

    /// Anything of the user's; it is not looked at, and stays when the session ends.
    public var userData: Any? {
        get { state.withLock { $0.userData }.value }
        set { state.replace(with: Unchecked(newValue)) { swap(&$0.userData, &$1) } }
    }

    /// Whether the socket disconnects when the peer ends its stream; true by default. Otherwise the delegate is told, and
    /// writes still reach the peer.
    public var autoDisconnectOnClosedReadStream: Bool {
        get { state.withLock { !$0.configuration.allowsHalfOpen } }
        set {
            set { $0.allowsHalfOpen = !newValue }
            stream?.setAllowsHalfOpen(!newValue)
        }
    }
}
