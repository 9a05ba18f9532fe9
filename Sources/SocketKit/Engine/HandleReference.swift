import SocketCore

/// The handle of a session, which does not keep the handle alive.
///
/// A reference that comes out of here may be the last one when it goes, since the user's threads let go of theirs when
/// they like. If it went in the midst of a step of the engine, the handle would be destroyed there with all that the user
/// keeps in it. So there is one way to get at it, and whoever takes it gives it to something that outlasts the step: the
/// engine's list of what is retired, a connection that is held, or a callback in the outbox.
struct HandleReference<Handle: AnyObject> {
    private weak var handle: Handle?

    init(_ handle: Handle? = nil) { self.handle = handle }

    /// The handle, once `keep` has seen to it that it stays until the engine is at rest; nil: the user let go of it.
    @inline(__always)
    @discardableResult
    func load(keep: (Handle) -> Void) -> Handle? {
        guard let handle else { return nil }
        keep(handle)
        return handle
    }

    /// Gives it to something that keeps it until then; false: the user let go of it. It is counted once on that way.
    @inline(__always)
    func give(to keep: (consuming Handle) -> Void) -> Bool {
        guard let handle else { return false }
        keep(handle)
        return true
    }

    /// The handle, which is retired: it stays until the engine is at rest.
    func load(in engine: EngineState) -> Handle? { load { engine.retire($0) } }
}

/// A handle that the engine keeps, and whose it is.
struct HeldHandle {
    let connection: Connection
    let handle: AsyncSocket
}

extension EngineState {
    /// Keeps what a user gave, and may replace at any time, until the engine is at rest.
    func retire<Value: Sendable>(_ shared: Shared<Value>?) {
        guard let shared, retired.last !== shared.object else { return }
        retired.append(shared.object)
    }

    /// The closure of a configuration, likewise.
    func retire(_ configuration: SocketConfiguration) {
        if configuration.prepareDescriptor != nil { retire(Shared(configuration)) }
    }

    /// The closure of a configuration, likewise.
    func retire(_ configuration: DatagramConfiguration) {
        if configuration.prepareDescriptor != nil { retire(Shared(configuration)) }
    }
}
