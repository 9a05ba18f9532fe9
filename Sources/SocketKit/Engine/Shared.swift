import SocketCore

/// A value that many hold and hardly anybody changes: its copies share one piece of memory.
struct Shared<Value: Sendable>: Sendable {
    private final class Box: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    /// What holds the value.
    var object: AnyObject { box }

    init(_ value: Value) { box = Box(value) }

    var value: Value {
        get { box.value }
        set { box = Box(newValue) }
    }
}

/// A value that most owners never need, so that it takes up memory only once it is touched.
struct Rare<Value> {
    /// None, or one.
    private var storage: [Value] = []

    init() {}

    /// nil: it was never touched.
    var present: Value? { storage.first }

    /// Changes it, or `initial` when it was never touched.
    mutating func change<R>(_ initial: @autoclosure () -> Value, _ body: (inout Value) -> R) -> R {
        if storage.isEmpty { storage = [initial()] }
        return body(&storage[0])
    }

    /// Changes it if it was touched.
    mutating func changePresent<R>(_ body: (inout Value) -> R) -> R? {
        storage.isEmpty ? nil : body(&storage[0])
    }
}

/// A time or none in eight bytes, for what every connection holds: an optional takes sixteen.
struct PackedTime: Equatable {
    /// `Int64.min`: none. Clocks count from their zero on.
    private var nanoseconds: Int64

    /// Packs a time.
    init(_ time: MonotonicTime? = nil) { nanoseconds = time?.nanoseconds ?? .min }

    /// The time; nil: there is none.
    var value: MonotonicTime? { nanoseconds == .min ? nil : MonotonicTime(nanoseconds: nanoseconds) }
}
