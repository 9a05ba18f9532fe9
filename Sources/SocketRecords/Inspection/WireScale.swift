/// Measures the memory that a value's texts and lists take, with the same lines that write and read it, so that no
/// field can be forgotten.
package struct WireScale: WireCoder {
    /// The number of bytes so far.
    package internal(set) var memory = 0

    package init() {}

    package mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) {
        value.weigh(into: &self)
    }

    package mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value?) {
        value?.weigh(into: &self)
    }

    package mutating func field<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) {
        memory += values.count * Value.memory
        for index in values.indices { values[index].weigh(into: &self) }
    }
}
