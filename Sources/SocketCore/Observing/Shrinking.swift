extension Dictionary {
    /// Gives back the memory of entries that were removed, once few of many are left.
    package mutating func shrink() {
        guard capacity > 1_000, capacity > count * 4 else { return }
        self = Dictionary(uniqueKeysWithValues: lazy.map { ($0.key, $0.value) })
    }
}

extension Array {
    /// Gives back the memory of elements that were removed, once few of many are left.
    package mutating func shrink() {
        guard capacity > 1_000, capacity > count * 4 else { return }
        self = map { $0 }
    }
}
