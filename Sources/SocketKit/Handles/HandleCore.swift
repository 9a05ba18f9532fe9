import Dispatch
import SocketCore

/// The state that every kind of handle has, under the handle's lock.
struct HandleCore<Delegate: Sendable, Configuration: Sendable>: ~Copyable, Sendable {
    var present = PresentSession()
    var delegate: UnretainedReference<Delegate>
    /// The way to the delegate's queue, or `nil` if callbacks run on the engine's queue.
    var pump: DelegatePump?
    var configuration: Configuration
    var userData: (any Sendable)?

    init(session: SocketID? = nil, delegate: Delegate? = nil, pump: DelegatePump?, configuration: Configuration) {
        self.delegate = UnretainedReference(delegate)
        self.pump = pump
        self.configuration = configuration
        if let session { present.begin(session) }
    }
}

/// The whole state of a handle, which contains a `HandleCore`.
protocol HandleStorage: ~Copyable {
    associatedtype Delegate: Sendable
    associatedtype Configuration: Sendable
    var core: HandleCore<Delegate, Configuration> { get set }
}

extension HandleStorage where Self: ~Copyable {
    var present: PresentSession {
        @inline(__always) get { core.present }
    }

    /// The present session, or `nil` if there is none.
    var session: SocketID? {
        @inline(__always) get { core.present.id }
    }

    var delegate: Delegate? {
        @inline(__always) get { core.delegate.reference }
    }

    var pump: DelegatePump? {
        @inline(__always) get { core.pump }
    }
}

/// The settings of handles. A replaced value is destroyed after the lock is released.
extension Lock where Value: HandleStorage & ~Copyable {
    var delegate: Value.Delegate? {
        get { withLock { $0.delegate } }
        nonmutating set { replace(with: UnretainedReference(newValue)) { swap(&$0.core.delegate, &$1) } }
    }

    var pump: DelegatePump? {
        get { withLock { $0.pump } }
        nonmutating set { replace(with: newValue) { swap(&$0.core.pump, &$1) } }
    }

    var configuration: Value.Configuration {
        get { withLock { $0.core.configuration } }
        nonmutating set { replace(with: newValue) { swap(&$0.core.configuration, &$1) } }
    }

    /// Replaces the configuration and returns the old one, for the caller to destroy.
    func exchangeConfiguration(with new: Value.Configuration) -> Value.Configuration {
        var configuration = new
        withLock { swap(&$0.core.configuration, &configuration) }
        return configuration
    }

    var userData: (any Sendable)? {
        get { withLock { $0.core.userData } }
        nonmutating set { replace(with: newValue) { swap(&$0.core.userData, &$1) } }
    }
}
