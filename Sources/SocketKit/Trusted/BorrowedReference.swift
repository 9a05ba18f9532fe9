/// A reference that is not counted, to an object that something else retains for longer.
///
/// Proof: whoever makes one says what retains the object meanwhile. There are three:
/// - A connection is in the engine's table, or `retired`, until the outbox is empty and no step is under way; it is retired
///   before it leaves the table. So it outlasts its callbacks, and a step that was begun with it.
/// - A handle is in `holding` while its connection refers to it, until both let go together.
/// - A socket retains its engine, and only code on the thread that runs a turn can move it while that turn runs.
///
/// In a debug build the object is checked at each use, and one that is gone traps.
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
