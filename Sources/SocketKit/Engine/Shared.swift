import SocketCore

/// A value with many owners that rarely changes. Its copies share one piece of memory.
struct Shared<Value: Sendable>: Sendable {
    private final class Box: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    /// The object that holds the value.
    var object: AnyObject { box }

    init(_ value: Value) { box = Box(value) }

    var value: Value {
        get { box.value }
        set { box = Box(newValue) }
    }
}

/// A value that most owners never need. It takes memory only once it is used.
struct Rare<Value> {
    /// Empty, or one value.
    private var storage: [Value] = []

    init() {}

    /// The value, or `nil` if it was never used.
    var present: Value? { storage.first }

    /// Whether the value was never used.
    var isEmpty: Bool { storage.isEmpty }

    /// The value in place, without a copy. There must be one.
    var existing: Value {
        _read { yield storage[0] }
    }

    /// Changes the value, or `initial` if it was never used.
    mutating func change<R>(_ initial: @autoclosure () -> Value, _ body: (inout Value) -> R) -> R {
        if storage.isEmpty { storage = [initial()] }
        return body(&storage[0])
    }

    /// Changes the value, or returns `nil` if it was never used.
    mutating func changePresent<R>(_ body: (inout Value) -> R) -> R? {
        storage.isEmpty ? nil : body(&storage[0])
    }
}

/// An optional time in eight bytes, where an `Optional` takes sixteen. Every connection holds some.
struct PackedTime: Equatable {
    /// The time, or `Int64.min` for none. Clocks count up from zero.
    private var nanoseconds: Int64

    init(_ time: MonotonicTime? = nil) { nanoseconds = time?.nanoseconds ?? .min }

    var value: MonotonicTime? { nanoseconds == .min ? nil : MonotonicTime(nanoseconds: nanoseconds) }
}
