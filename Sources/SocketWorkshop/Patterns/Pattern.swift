/// A regular expression that matches in bounded time, whatever the pattern and the text.
///
/// It runs all alternatives in parallel instead of one after another, so a match visits each unit of the text at most
/// once for each step of the pattern. Back-references can't be matched that way and are rejected, as are patterns of
/// more than `longest` units, `stepLimit` steps or `deepest` nested groups.
package struct Pattern: Hashable, Sendable {
    /// A sentence that says what is wrong with a pattern.
    package struct Failure: Error, Equatable, Sendable {
        package var message: String
    }

    /// The unit that patterns and texts consist of.
    package enum Unit: Equatable, Sendable {
        /// Characters (Unicode scalars), for text.
        case scalars
        /// Bytes, for payloads. A non-ASCII character is several bytes.
        case bytes
    }

    /// The limits of a pattern: its units, its steps, and its nested groups.
    package static let longest = 1_000
    package static let stepLimit = 1_000
    package static let deepest = 32

    /// The next action of one thread of the match. Indices refer to `steps`.
    enum Step: Equatable, Sendable {
        case one(UnitSet)
        case split(Int, Int)
        case jump(Int)
        case require(Place)
        case done
    }

    /// A condition on the position in the text.
    enum Place: Equatable, Sendable {
        case start, end
        case wordBoundary, noWordBoundary, wordStart, wordEnd
    }

    /// The pattern as entered.
    package let text: String
    package let ignoresCase: Bool
    private let unit: Unit
    let steps: [Step]

    /// Parses a pattern. Throws a sentence that says what is wrong with it.
    package init(_ text: String, _ unit: Unit = .scalars, ignoresCase: Bool = false) throws(Failure) {
        let units = unit == .bytes ? text.utf8.map(UInt32.init) : text.unicodeScalars.map(\.value)
        guard units.count <= Self.longest else {
            throw Failure(message: "too long for a regular expression, at most \(Self.longest) characters")
        }
        var grammar = PatternGrammar(units: units, ignoresCase: ignoresCase)
        var program = PatternProgram()
        try program.add(try grammar.read())
        program.steps.append(.done)
        self.text = text
        self.ignoresCase = ignoresCase
        self.unit = unit
        steps = program.steps
    }

    package static func == (left: Pattern, right: Pattern) -> Bool {
        left.text == right.text && left.ignoresCase == right.ignoresCase && left.unit == right.unit
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Whether the pattern matches anywhere in a text.
    package func matches(_ text: String) -> Bool {
        var work = 0
        return matches(text, counting: &work)
    }

    /// Whether the pattern matches anywhere in these bytes.
    package func matches(_ bytes: [UInt8]) -> Bool {
        var work = 0
        return run(bytes.count, { UInt32(bytes[$0]) }, &work)
    }

    /// Whether the pattern matches anywhere in a text. Adds the number of steps visited to `work`.
    package func matches(_ text: String, counting work: inout Int) -> Bool {
        if unit == .bytes {
            let bytes = Array(text.utf8)
            return run(bytes.count, { UInt32(bytes[$0]) }, &work)
        }
        let scalars = Array(text.unicodeScalars)
        return run(scalars.count, { scalars[$0].value }, &work)
    }

    private func run(_ count: Int, _ unit: (Int) -> UInt32, _ work: inout Int) -> Bool {
        var current = PatternThreads(steps.count)
        var next = PatternThreads(steps.count)
        for index in 0...count {
            let before = index > 0 ? unit(index - 1) : nil
            let here = index < count ? unit(index) : nil
            // A match can begin anywhere.
            if current.follow(0, in: steps, before, here, &work) { return true }
            guard let here else { return false }
            next.clear()
            let after = index + 1 < count ? unit(index + 1) : nil
            for step in current.waiting {
                work += 1
                guard case .one(let set) = steps[step], set.contains(here) else { continue }
                if next.follow(step + 1, in: steps, here, after, &work) { return true }
            }
            swap(&current, &next)
        }
        return false
    }
}

/// The steps that a match can be at in one position of the text, each at most once.
struct PatternThreads {
    /// The steps that wait for a unit.
    private(set) var waiting: [Int] = []
    private var seen: [Bool]
    private var reached: [Int] = []
    private var stack: [Int] = []
    private var pending: [Int] = []

    init(_ count: Int) { seen = [Bool](repeating: false, count: count) }

    /// Adds a step from which `resume` continues.
    mutating func reach(_ step: Int) { pending.append(step) }

    /// Continues from the added steps. Returns whether the pattern is complete.
    mutating func resume(
        in steps: [Pattern.Step], _ before: UInt32?, _ here: UInt32?, _ work: inout Int
    ) -> Bool {
        defer { pending.removeAll(keepingCapacity: true) }
        return pending.contains { follow($0, in: steps, before, here, &work) }
    }

    mutating func clear() {
        pending.removeAll(keepingCapacity: true)
        for step in reached { seen[step] = false }
        reached.removeAll(keepingCapacity: true)
        waiting.removeAll(keepingCapacity: true)
    }

    /// Continues from a step without taking a unit. Returns whether the pattern is complete.
    mutating func follow(
        _ first: Int, in steps: [Pattern.Step], _ before: UInt32?, _ here: UInt32?, _ work: inout Int
    ) -> Bool {
        stack.append(first)
        while let step = stack.popLast() {
            guard !seen[step] else { continue }
            seen[step] = true
            reached.append(step)
            work += 1
            switch steps[step] {
            case .one: waiting.append(step)
            case .jump(let target): stack.append(target)
            case .split(let left, let right):
                stack.append(right)
                stack.append(left)
            case .require(let place): if place.holds(before, here) { stack.append(step + 1) }
            case .done: return true
            }
        }
        return false
    }
}

extension Pattern.Place {
    /// Whether the position between these two units meets the condition. `nil` is a unit beyond the text.
    func holds(_ before: UInt32?, _ here: UInt32?) -> Bool {
        // A condition on a byte that has not arrived does not hold yet.
        if here == PatternStream.unknown { return self == .start && before == nil }
        let isAfterWord = before.map(UnitSet.word.contains) ?? false
        let isBeforeWord = here.map(UnitSet.word.contains) ?? false
        switch self {
        case .start: return before == nil
        case .end: return here == nil
        case .wordBoundary: return isAfterWord != isBeforeWord
        case .noWordBoundary: return isAfterWord == isBeforeWord
        case .wordStart: return !isAfterWord && isBeforeWord
        case .wordEnd: return isAfterWord && !isBeforeWord
        }
    }
}
