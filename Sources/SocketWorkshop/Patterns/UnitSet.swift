/// The units that match at one place of a pattern.
struct UnitSet: Equatable, Sendable {
    private var ranges: [ClosedRange<UInt32>] = []
    private var isInverted = false

    static let all = UnitSet([0...UInt32.max])
    static let digit = UnitSet([0x30...0x39])
    static let word = UnitSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let space = UnitSet([0x09...0x0D, 0x20...0x20])

    init(_ ranges: [ClosedRange<UInt32>]) { self.ranges = ranges }

    /// Creates a set of one unit, in both cases if `ignoresCase`.
    init(_ unit: UInt32, ignoresCase: Bool) {
        ranges = [unit...unit]
        if ignoresCase { addCases(of: unit) }
    }

    var inverted: UnitSet {
        var copy = self
        copy.isInverted.toggle()
        return copy
    }

    func contains(_ unit: UInt32) -> Bool { ranges.contains { $0.contains(unit) } != isInverted }

    mutating func add(_ other: UnitSet) {
        // An inverted set (\D, \S or \W) adds what its ranges leave out.
        ranges += other.isInverted ? other.gaps : other.ranges
    }

    mutating func add(_ range: ClosedRange<UInt32>, ignoresCase: Bool) {
        ranges.append(range)
        guard ignoresCase else { return }
        // A range longer than this spans more than one alphabet.
        for unit in range.prefix(2_000) { addCases(of: unit) }
    }

    private mutating func addCases(of unit: UInt32) {
        guard let scalar = Unicode.Scalar(unit) else { return }
        for mapped in [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping] {
            guard let other = mapped.unicodeScalars.first, mapped.unicodeScalars.count == 1, other != scalar else {
                continue
            }
            ranges.append(other.value...other.value)
        }
    }

    /// The same set with as few ranges as possible.
    var merged: UnitSet {
        var copy = UnitSet([])
        copy.isInverted = isInverted
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            guard let last = copy.ranges.last, UInt64(range.lowerBound) <= UInt64(last.upperBound) + 1 else {
                copy.ranges.append(range)
                continue
            }
            copy.ranges[copy.ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
        }
        return copy
    }

    private var gaps: [ClosedRange<UInt32>] {
        var gaps: [ClosedRange<UInt32>] = []
        var begin: UInt32 = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > begin { gaps.append(begin...(range.lowerBound - 1)) }
            guard range.upperBound < .max else { return gaps }
            begin = max(begin, range.upperBound + 1)
        }
        return gaps + [begin...UInt32.max]
    }

    /// Parses what follows a backslash: a class, a control character, a code, or a literal character.
    static func escaped(
        _ units: [UInt32], _ index: inout Int, ignoresCase: Bool
    ) throws(Pattern.Failure) -> UnitSet {
        let unit = units[index]
        index += 1
        guard let scalar = Unicode.Scalar(unit) else { return UnitSet([unit...unit]) }
        switch scalar {
        case "d": return digit
        case "D": return digit.inverted
        case "w": return word
        case "W": return word.inverted
        case "s": return space
        case "S": return space.inverted
        case "n": return UnitSet([0x0A...0x0A])
        case "r": return UnitSet([0x0D...0x0D])
        case "t": return UnitSet([0x09...0x09])
        case "f": return UnitSet([0x0C...0x0C])
        case "v": return UnitSet([0x0B...0x0B])
        case "0": return UnitSet([0...0])
        case "x":
            let digits = units[index..<min(index + 2, units.count)].compactMap(hexDigit)
            guard digits.count == 2 else { throw Pattern.Failure(message: "\\x needs two hex digits") }
            index += 2
            return UnitSet(digits[0] << 4 | digits[1], ignoresCase: false)
        case "1"..."9":
            throw Pattern.Failure(message: "\\\(scalar): back-references are not supported")
        case "a"..."z", "A"..."Z":
            throw Pattern.Failure(message: "\\\(scalar): no such escape; supported: \\d \\w \\s \\b \\n \\r \\t \\xHH")
        default: return UnitSet(unit, ignoresCase: ignoresCase)
        }
    }

    private static func hexDigit(_ unit: UInt32) -> UInt32? {
        Unicode.Scalar(unit).flatMap { UInt32(String($0), radix: 16) }
    }
}

/// A parser for bracket expressions: `[a-z_]`, `[^[:digit:]]`, `[]x]`.
struct PatternBrackets {
    private let units: [UInt32]
    private let ignoresCase: Bool

    init(_ units: [UInt32], ignoresCase: Bool) {
        self.units = units
        self.ignoresCase = ignoresCase
    }

    private static let classes: [String: [ClosedRange<UInt32>]] = [
        "alpha": [0x41...0x5A, 0x61...0x7A], "digit": [0x30...0x39],
        "alnum": [0x30...0x39, 0x41...0x5A, 0x61...0x7A], "upper": [0x41...0x5A], "lower": [0x61...0x7A],
        "space": [0x09...0x0D, 0x20...0x20], "blank": [0x09...0x09, 0x20...0x20], "cntrl": [0...0x1F, 0x7F...0x7F],
        "punct": [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E], "print": [0x20...0x7E],
        "graph": [0x21...0x7E], "xdigit": [0x30...0x39, 0x41...0x46, 0x61...0x66],
    ]

    private static func failure(_ message: String) -> Pattern.Failure { Pattern.Failure(message: message) }

    /// Parses from after the opening bracket and advances `index` past the closing one.
    func read(_ index: inout Int) throws(Pattern.Failure) -> UnitSet {
        var set = UnitSet([])
        let isInverted = at(index, "^")
        if isInverted { index += 1 }
        // A ] in first position is literal.
        var isFirst = true
        while isFirst || !at(index, "]") {
            isFirst = false
            guard index < units.count else { throw Self.failure("a ] is missing") }
            if at(index, "["), at(index + 1, ":") {
                set.add(UnitSet(try namedClass(&index)))
            } else if at(index, "["), at(index + 1, ".") || at(index + 1, "=") {
                throw Self.failure("[. and [= are not supported; write \\[ for the character")
            } else {
                try readRange(&index, &set)
            }
        }
        index += 1
        return (isInverted ? set.inverted : set).merged
    }

    private func at(_ index: Int, _ scalar: Unicode.Scalar) -> Bool {
        index < units.count && units[index] == scalar.value
    }

    private func readRange(_ index: inout Int, _ set: inout UnitSet) throws(Pattern.Failure) {
        let first = try item(&index)
        guard case .unit(let low) = first, at(index, "-"), index + 1 < units.count, !at(index + 1, "]") else {
            switch first {
            case .unit(let unit): set.add(unit...unit, ignoresCase: ignoresCase)
            case .set(let other): set.add(other)
            }
            return
        }
        index += 1
        guard case .unit(let high) = try item(&index), low <= high else {
            throw Self.failure("a range in [ ] must go from the smaller character to the larger one")
        }
        set.add(low...high, ignoresCase: ignoresCase)
    }

    private enum Item {
        case unit(UInt32)
        case set(UnitSet)
    }

    private func item(_ index: inout Int) throws(Pattern.Failure) -> Item {
        let unit = units[index]
        index += 1
        guard unit == Unicode.Scalar("\\").value, index < units.count else { return .unit(unit) }
        let set = try UnitSet.escaped(units, &index, ignoresCase: false)
        return set.only.map { .unit($0) } ?? .set(set)
    }

    private func namedClass(_ index: inout Int) throws(Pattern.Failure) -> [ClosedRange<UInt32>] {
        var name = ""
        var end = index + 2
        while end < units.count, let scalar = Unicode.Scalar(units[end]), scalar != ":", name.count < 10 {
            name.unicodeScalars.append(scalar)
            end += 1
        }
        guard at(end, ":"), at(end + 1, "]"), let ranges = Self.classes[name] else {
            throw Self.failure("[:\(name):]: no such class; alpha, digit, alnum, space, upper, lower, punct, xdigit...")
        }
        index = end + 2
        guard ignoresCase, name == "upper" || name == "lower" else { return ranges }
        return [0x41...0x5A, 0x61...0x7A]
    }
}

extension UnitSet {
    /// The set's only unit, or `nil` if there is not exactly one.
    fileprivate var only: UInt32? {
        guard !isInverted, ranges.count == 1, let range = ranges.first, range.count == 1 else { return nil }
        return range.lowerBound
    }
}
