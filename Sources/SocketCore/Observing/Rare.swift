/// A value that most sessions do not have. It takes one word where there is none, and copies share it until one of them
/// is changed.
@propertyWrapper
package struct Rare<Value> {
    /// Has at most one element.
    private var held: [Value]

    package init(wrappedValue: Value?) { held = wrappedValue.map { [$0] } ?? [] }

    package var wrappedValue: Value? {
        get { held.first }
        _modify {
            var value = held.popLast()
            defer {
                if let value { held.append(value) } else { held = [] }
            }
            yield &value
        }
    }

    var isEmpty: Bool { held.isEmpty }

    /// The value in place, without a copy. There must be one.
    var existing: Value {
        _read { yield held[0] }
    }

    /// The memory that the value takes beside the word, in bytes.
    var memory: Int { held.isEmpty ? 0 : MemoryLayout<Value>.stride + 32 }
}

extension Rare: Equatable where Value: Equatable {}
extension Rare: Sendable where Value: Sendable {}

extension Rare: CustomReflectable {
    package var customMirror: Mirror { Mirror(reflecting: held.first as Any) }
}
