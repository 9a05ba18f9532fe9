/// A parser for regular expressions: POSIX extended ones without back-references, plus the common `\d \s \w \b \xHH
/// (?:...)`.
struct PatternGrammar {
    /// A node of a parsed pattern.
    indirect enum Node {
        case one(UnitSet)
        case require(Pattern.Place)
        case sequence([Node])
        case choice([Node])
        /// Repeated this many times, without an upper limit if the second count is `nil`.
        case repeated(Node, Int, Int?)
    }

    private let units: [UInt32]
    private let ignoresCase: Bool
    private var index = 0
    private var depth = 0

    /// The highest count allowed in braces.
    private static let mostRepeats = 255

    init(units: [UInt32], ignoresCase: Bool) {
        self.units = units
        self.ignoresCase = ignoresCase
    }

    mutating func read() throws(Pattern.Failure) -> Node {
        let node = try choice()
        if next != nil { throw failure("unmatched ); write \\) for a literal )") }
        return node
    }

    private var next: UInt32? { index < units.count ? units[index] : nil }

    private func failure(_ message: String) -> Pattern.Failure { Pattern.Failure(message: message) }

    private func isNext(_ character: Unicode.Scalar) -> Bool { next == character.value }

    private mutating func accept(_ character: Unicode.Scalar) -> Bool {
        guard isNext(character) else { return false }
        index += 1
        return true
    }

    private mutating func choice() throws(Pattern.Failure) -> Node {
        var nodes = [try sequence()]
        while accept("|") { nodes.append(try sequence()) }
        return nodes.count == 1 ? nodes[0] : .choice(nodes)
    }

    private mutating func sequence() throws(Pattern.Failure) -> Node {
        var nodes: [Node] = []
        while next != nil, !isNext("|"), !isNext(")") { nodes.append(try repeated()) }
        return .sequence(nodes)
    }

    private mutating func repeated() throws(Pattern.Failure) -> Node {
        let begin = index
        let node = try single()
        guard let (least, most) = try quantifier() else { return node }
        if case .require = node { throw failure("nothing to repeat before \(shown(units[begin..<index]))") }
        // Lazy and greedy repetition don't differ in whether a pattern matches.
        _ = accept("?")
        if try quantifier() != nil { throw failure("two repetitions in a row; put the first in ( )") }
        return .repeated(node, least, most)
    }

    private mutating func quantifier() throws(Pattern.Failure) -> (Int, Int?)? {
        if accept("*") { return (0, nil) }
        if accept("+") { return (1, nil) }
        if accept("?") { return (0, 1) }
        return try braces()
    }

    /// Parses `{2}`, `{2,}`, `{2,5}` or `{,5}`. Anything else after `{` is literal text.
    private mutating func braces() throws(Pattern.Failure) -> (Int, Int?)? {
        let begin = index
        guard accept("{") else { return nil }
        let least = number()
        let hasComma = accept(",")
        let most = hasComma ? number() : least
        guard least != nil || most != nil, accept("}") else {
            index = begin
            return nil
        }
        let range = (least ?? 0, most)
        guard max(range.0, most ?? 0) <= Self.mostRepeats, range.0 <= most ?? .max else {
            throw failure(
                "\(shown(units[begin..<index])): counts must be 0 to \(Self.mostRepeats), the smaller one first")
        }
        return range
    }

    private mutating func number() -> Int? {
        var value: Int?
        while let unit = next, (0x30...0x39).contains(unit) {
            value = min(99_999, (value ?? 0) * 10 + Int(unit - 0x30))
            index += 1
        }
        return value
    }

    private mutating func single() throws(Pattern.Failure) -> Node {
        guard let unit = next else { return .sequence([]) }
        index += 1
        switch Unicode.Scalar(unit) {
        case "(": return try group()
        case "[": return .one(try PatternBrackets(units, ignoresCase: ignoresCase).read(&index))
        case ".": return .one(.all)
        case "^": return .require(.start)
        case "$": return .require(.end)
        case "*", "+", "?": throw failure("nothing to repeat before \(shown([unit]))")
        case "\\": return try escape()
        default: return .one(UnitSet(unit, ignoresCase: ignoresCase))
        }
    }

    private mutating func group() throws(Pattern.Failure) -> Node {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Pattern.deepest else { throw failure("groups are nested too deeply") }
        if accept("?"), !accept(":") { throw failure("of the groups starting with (?, only (?: is supported") }
        let node = try choice()
        guard accept(")") else { throw failure("a ) is missing") }
        return node
    }

    private mutating func escape() throws(Pattern.Failure) -> Node {
        guard let unit = next else { throw failure("a character is missing after \\") }
        let places: [Unicode.Scalar: Pattern.Place] = [
            "b": .wordBoundary, "B": .noWordBoundary, "<": .wordStart, ">": .wordEnd, "`": .start, "'": .end,
        ]
        if let place = Unicode.Scalar(unit).flatMap({ places[$0] }) {
            index += 1
            return .require(place)
        }
        return .one(try UnitSet.escaped(units, &index, ignoresCase: ignoresCase))
    }

    private func shown(_ units: some Sequence<UInt32>) -> String {
        String(String.UnicodeScalarView(units.map { Unicode.Scalar($0) ?? "?" }))
    }
}

/// Compiles a pattern into a sequence of steps.
struct PatternProgram {
    var steps: [Pattern.Step] = []
    /// The number of nodes visited. It is limited too, because a node that repeats nothing adds no step.
    private var parts = 0

    mutating func add(_ node: PatternGrammar.Node) throws(Pattern.Failure) {
        parts += 1
        guard steps.count < Pattern.stepLimit, parts < 20 * Pattern.stepLimit else {
            throw Pattern.Failure(message: "the regular expression is too large once its repetitions are expanded")
        }
        switch node {
        case .one(let set): steps.append(.one(set))
        case .require(let place): steps.append(.require(place))
        case .sequence(let nodes): for node in nodes { try add(node) }
        case .choice(let nodes): try addChoice(nodes[...])
        case .repeated(let node, let least, let most):
            for _ in 0..<least { try add(node) }
            guard let most else { return try addLoop(node) }
            try addOptional(node, most - least)
        }
    }

    private mutating func addChoice(_ nodes: ArraySlice<PatternGrammar.Node>) throws(Pattern.Failure) {
        var ends: [Int] = []
        for (offset, node) in nodes.enumerated() {
            guard offset < nodes.count - 1 else {
                try add(node)
                break
            }
            let split = steps.count
            steps.append(.split(split + 1, 0))
            try add(node)
            ends.append(steps.count)
            steps.append(.jump(0))
            steps[split] = .split(split + 1, steps.count)
        }
        for end in ends { steps[end] = .jump(steps.count) }
    }

    private mutating func addLoop(_ node: PatternGrammar.Node) throws(Pattern.Failure) {
        let split = steps.count
        steps.append(.split(split + 1, 0))
        try add(node)
        steps.append(.jump(split))
        steps[split] = .split(split + 1, steps.count)
    }

    /// Adds up to `count` optional repetitions, any of which can be the last.
    private mutating func addOptional(_ node: PatternGrammar.Node, _ count: Int) throws(Pattern.Failure) {
        var splits: [Int] = []
        for _ in 0..<count {
            splits.append(steps.count)
            steps.append(.split(steps.count + 1, 0))
            try add(node)
        }
        for split in splits { steps[split] = .split(split + 1, steps.count) }
    }
}
