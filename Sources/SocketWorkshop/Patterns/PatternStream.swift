/// An incremental search for a pattern in a byte stream. Each byte is visited once. `^` and `$` match the beginning and
/// end of a line.
package struct PatternStream: Sendable {
    /// Stands for a byte that has not arrived yet. Conditions on it do not hold, but may once it has arrived.
    static let unknown = UInt32.max
    private static let newline = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    private let steps: [Pattern.Step]
    private var current: PatternThreads
    private var next: PatternThreads
    /// The byte before the next position, or `nil` at the beginning of the stream.
    private var former: UInt8?
    private var work = 0

    /// Creates a search.
    /// - Parameter former: The byte before the first one to search, or `nil` if there is none.
    package init(_ pattern: Pattern, after former: UInt8?) {
        steps = pattern.steps
        current = PatternThreads(steps.count)
        next = PatternThreads(steps.count)
        self.former = former
    }

    /// Searches the next bytes. `isWhole` is whether no bytes follow them.
    ///
    /// Returns where the first match ends, or `nil`, and how many bytes were used. The next call must begin after
    /// those.
    package mutating func search(_ bytes: ArraySlice<UInt8>, isWhole: Bool) -> (end: Int?, used: Int) {
        // Whether a trailing carriage return ends a line depends on the next byte.
        let isOpen = !isWhole && bytes.last == Self.carriageReturn
        let known = bytes.endIndex - (isOpen ? 1 : 0)
        func byte(_ index: Int) -> UInt8? { index < bytes.endIndex ? bytes[index] : nil }
        for index in bytes.startIndex..<known where advance(bytes[index], byte(index + 1), isWhole) {
            return (index, index - bytes.startIndex)
        }
        // Checks for a match that is already complete. The same bytes are searched again once more have arrived.
        var rest = self
        for index in known...bytes.endIndex where rest.advance(byte(index), byte(index + 1), isWhole) {
            return (index, index - bytes.startIndex)
        }
        return (nil, known - bytes.startIndex)
    }

    /// Advances by one position. Returns whether a match ends before `first`. `second` is the byte after it.
    private mutating func advance(_ first: UInt8?, _ second: UInt8?, _ isWhole: Bool) -> Bool {
        let isLineEnd = first == Self.newline || first == Self.carriageReturn && second == Self.newline
        let before = former == Self.newline ? nil : former.map(UInt32.init)
        let here = isLineEnd ? nil : first.map(UInt32.init) ?? (isWhole ? nil : Self.unknown)
        // A match can begin anywhere.
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
