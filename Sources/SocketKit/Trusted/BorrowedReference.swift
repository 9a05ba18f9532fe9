/// An uncounted reference to an object that something else retains for longer.
///
/// Proof: there are three uses, each with something that retains the object meanwhile.
/// - A connection is in the engine's table, or `retired`, until the outbox is empty and no step is in progress. It is retired
///   before it leaves the table, so it outlives its callbacks and any step that began with it.
/// - A handle is in `holding` while its connection refers to it, until both references end together.
/// - A socket retains its engine, and only code on the thread that runs a turn can move it during that turn.
///
/// A debug build checks the object at each use, and traps if it is gone.
struct BorrowedReference<Object: AnyObject> {
    #if DEBUG
    private unowned let checked: Object
    #endif
    private let unmanaged: Unmanaged<Object>

    @inline(__always)
    init(_ object: __shared Object) {
        #if DEBUG
        checked = object
        #endif
        unmanaged = .passUnretained(object)
    }

    /// Runs `body` with the object.
    @inline(__always)
    func callAsFunction<R>(_ body: (Object) -> R) -> R {
        #if DEBUG
        return body(checked)
        #else
        return unmanaged._withUnsafeGuaranteedRef(body)
        #endif
    }

    /// The object, retained.
    var retained: Object { unmanaged.takeUnretainedValue() }
}
