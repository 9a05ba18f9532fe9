import Foundation
import SocketKit

extension GCDAsyncSocket {
    /// The delegate, held weakly. A new delegate receives every callback that hasn't started yet.
    public weak var delegate: (any GCDAsyncSocketDelegate)? {
        get { state.withLock { Unchecked($0.delegate.object) }.value }
        set { change { $0.delegate = WeakDelegate(newValue) } }
    }

    /// The queue that callbacks run on, or `nil` for no callbacks.
    public var delegateQueue: DispatchQueue? {
        get { state.withLock { $0.delegateQueue } }
        set { change { $0.delegateQueue = newValue } }
    }

    /// Reads the delegate and its queue atomically.
    public func getDelegate(
        _ delegatePtr: UnsafeMutablePointer<(any GCDAsyncSocketDelegate)?>?,
        delegateQueue delegateQueuePtr: UnsafeMutablePointer<DispatchQueue?>?
    ) {
        let (delegate, queue) = state.withLock { Unchecked(($0.delegate.object, $0.delegateQueue)) }.value
        delegatePtr?.pointee = delegate
        delegateQueuePtr?.pointee = queue
    }

    /// Sets the delegate and its queue together.
    public func setDelegate(_ delegate: (any GCDAsyncSocketDelegate)?, delegateQueue: DispatchQueue?) {
        change { state in
            state.delegate = WeakDelegate(delegate)
            state.delegateQueue = delegateQueue
        }
    }

    /// Sets the delegate. Like every setter here, it takes effect before it returns.
    public func synchronouslySetDelegate(_ delegate: (any GCDAsyncSocketDelegate)?) { self.delegate = delegate }

    /// Sets the delegate queue. Like every setter here, it takes effect before it returns.
    public func synchronouslySetDelegateQueue(_ delegateQueue: DispatchQueue?) { self.delegateQueue = delegateQueue }

    /// Sets the delegate and its queue together. Like every setter here, it takes effect before it returns.
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

    /// Whether IPv4 is used. A change applies to the next accept or connect.
    public var isIPv4Enabled: Bool {
        get { state.withLock { $0.configuration.isIPv4Enabled } }
        set { set { $0.isIPv4Enabled = newValue } }
    }

    /// Whether IPv6 is used. A change applies to the next accept or connect.
    public var isIPv6Enabled: Bool {
        get { state.withLock { $0.configuration.isIPv6Enabled } }
        set { set { $0.isIPv6Enabled = newValue } }
    }

    /// Whether a connect tries IPv4 first if a name has addresses of both families. Defaults to `true`.
    public var isIPv4PreferredOverIPv6: Bool {
        get { state.withLock { !$0.configuration.prefersIPv6 } }
        set { set { $0.prefersIPv6 = !newValue } }
    }

    /// How many seconds a connect waits for one address before it also tries the next. Defaults to 0.3. After a refusal
    /// it doesn't wait.
    public var alternateAddressDelay: TimeInterval {
        get { state.withLock { $0.configuration.attemptDelay }.seconds }
        set { set { $0.attemptDelay = Duration(timeout: newValue) ?? .zero } }
    }

    /// A value for your own use. The socket never reads it, and keeps it when the session ends.
    public var userData: Any? {
        get { state.withLock { $0.userData }.value }
        set { state.replace(with: Unchecked(newValue)) { swap(&$0.userData, &$1) } }
    }

    /// Whether the socket disconnects when the peer ends its stream. Defaults to `true`. Otherwise the delegate is
    /// notified, and writes still reach the peer.
    public var autoDisconnectOnClosedReadStream: Bool {
        get { state.withLock { !$0.configuration.allowsHalfOpen } }
        set {
            set { $0.allowsHalfOpen = !newValue }
            stream?.setAllowsHalfOpen(!newValue)
        }
    }
}
