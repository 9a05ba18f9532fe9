/// A search for a pattern in bytes that come bit by bit: each is looked at once. `^` and `$` are the beginning and the end
/// of a line.
package struct PatternStream: Sendable {
    /// Stands for the byte that has not come yet. What depends on it does not hold, but may once it has come.
    static let unknown = UInt32.max
    private static let newline = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    private let steps: [Pattern.Step]
    private var current: PatternThreads
    private var next: PatternThreads
    /// The byte before the place that is looked at next; nil at the beginning of the stream.
    private var former: UInt8?
    private var work = 0

    /// - Parameter former: the byte before the first that will be looked at; nil: there is none.
    package init(_ pattern: Pattern, after former: UInt8?) {
        steps = pattern.steps
        current = PatternThreads(steps.count)
        next = PatternThreads(steps.count)
        self.former = former
    }

    /// Looks at the bytes that follow those which were looked at. `isWhole`: nothing follows these.
    ///
    /// Returns where the first match ends, or nil, and how many of the bytes were used up: the next call begins there.
    package mutating func search(_ bytes: ArraySlice<UInt8>, isWhole: Bool) -> (end: Int?, used: Int) {
        // What a carriage return at the end is depends on the next byte.
        let isOpen = !isWhole && bytes.last == Self.carriageReturn
        let known = bytes.endIndex - (isOpen ? 1 : 0)
        func byte(_ index: Int) -> UInt8? { index < bytes.endIndex ? bytes[index] : nil }
        for index in bytes.startIndex..<known where take(bytes[index], byte(index + 1), isWhole) {
            return (index, index - bytes.startIndex)
        }
        // What may be complete already; looked at again once more is known.
        var rest = self
        for index in known...bytes.endIndex where rest.take(byte(index), byte(index + 1), isWhole) {
            return (index, index - bytes.startIndex)
        }
        return (nil, known - bytes.startIndex)
    }

    /// Looks at one place: whether a match ends before this byte, and if not, what the byte leads to. `second` follows it.
    private mutating func take(_ first: UInt8?, _ second: UInt8?, _ isWhole: Bool) -> Bool {
        let isLineEnd = first == Self.newline || first == Self.carriageReturn && second == Self.newline
        let before = former == Self.newline ? nil : former.map(UInt32.init)
        let here = isLineEnd ? nil : first.map(UInt32.init) ?? (isWhole ? nil : Self.unknown)
        // A match may begin anywhere.
        if current.follow(0, in: steps, before, here, &work) { return true }
        if current.resume(in: steps, before, here, &work) { return true }
        guard let byte = first else { return false }
        next.clear()
        for step in current.waiting {
            if case .one(let set) = steps[step], set.contains(UInt32(byte)) { next.reach(step + 1) }
        }
        swap(&current, &next)
        former = byte
        return false
    }
}
