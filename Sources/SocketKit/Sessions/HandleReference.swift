import SocketCore

/// A session's reference to its handle, which doesn't keep the handle alive.
///
/// The caller's threads may release the handle at any time, so a reference loaded here may become the last one. If it
/// were released within a step of the engine, the handle would be destroyed there, with everything the caller keeps in
/// it. Every way to load it therefore hands the reference to something that outlives the step: the engine's `retired`
/// list, a connection that holds its handle, or a callback in the outbox.
struct HandleReference<Handle: AnyObject & Sendable>: ~Copyable {
    private let unretained: UnretainedReference<Handle>

    init(_ handle: Handle? = nil) { unretained = UnretainedReference(handle) }

    /// Returns the handle after `keep` has stored a reference that lasts until the engine is at rest, or `nil` if the
    /// handle has been released.
    @inline(__always)
    @discardableResult
    func load(keep: (Handle) -> Void) -> Handle? {
        guard let handle = unretained.reference else { return nil }
        keep(handle)
        return handle
    }

    /// Moves the loaded reference into `keep`, so that it isn't counted twice. Returns false if the handle has been
    /// released.
    @inline(__always)
    func give(to keep: (consuming Handle) -> Void) -> Bool {
        guard let handle = unretained.reference else { return false }
        keep(handle)
        return true
    }

    /// Returns the handle and retires it, so that it lasts until the engine is at rest.
    func load(in engine: EngineState) -> Handle? { load { engine.retire($0) } }
}

/// A handle that the engine retains, and its connection.
struct RetainedHandle {
    let connection: BorrowedReference<Connection>
    let handle: AsyncSocket
}

extension EngineState {
    /// Keeps an object until the engine is at rest, because the caller may replace it at any time.
    func retire<Value: Sendable>(_ shared: Shared<Value>?) {
        guard let shared, retired.last !== shared.object else { return }
        retired.append(shared.object)
    }

    /// Keeps the closure of a configuration until the engine is at rest.
    func retire(_ configuration: SocketConfiguration) {
        if configuration.prepareDescriptor != nil { retire(Shared(configuration)) }
    }

    /// Keeps the closure of a configuration until the engine is at rest.
    func retire(_ configuration: DatagramConfiguration) {
        if configuration.prepareDescriptor != nil { retire(Shared(configuration)) }
    }
}
