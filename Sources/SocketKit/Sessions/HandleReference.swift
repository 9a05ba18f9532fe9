import SocketCore

/// The handle of a session, which does not keep the handle alive.
///
/// The user's threads may release the handle at any time, so a reference loaded here may become the last one. Released
/// within a step of the engine, it would destroy the handle there, with everything the user keeps in it. Every way to load
/// it therefore hands the reference to something that outlives the step: the engine's `retired` list, a connection that
/// holds its handle, or a callback in the outbox.
struct HandleReference<Handle: AnyObject & Sendable>: ~Copyable {
    private let unretained: UnretainedReference<Handle>

    init(_ handle: Handle? = nil) { unretained = UnretainedReference(handle) }

    /// Returns the handle after `keep` has stored a reference that lasts until the engine is at rest; nil if the user has
    /// released it.
    @inline(__always)
    @discardableResult
    func load(keep: (Handle) -> Void) -> Handle? {
        guard let handle = unretained.reference else { return nil }
        keep(handle)
        return handle
    }

    /// Moves the loaded reference into `keep`, which saves counting it twice; false if the user has released the handle.
    @inline(__always)
    func give(to keep: (consuming Handle) -> Void) -> Bool {
        guard let handle = unretained.reference else { return false }
        keep(handle)
        return true
    }

    /// Returns the handle and retires it, so that it lasts until the engine is at rest.
    func load(in engine: EngineState) -> Handle? { load { engine.retire($0) } }
}

/// A handle that the engine keeps, and whose it is.
struct HeldHandle {
    let connection: BorrowedReference<Connection>
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
