extension FaultRule {
    /// Parses a rule, such as `after 1K downstream slice 7 every 20ms`.
    package static func parse(_ text: String) throws(FaultProblem) -> FaultRule {
        var grammar = FaultGrammar(reader: try FaultReader(text))
        return try grammar.rule()
    }
}

/// `rule = { condition } [ "upstream" | "downstream" ] effect`
struct FaultGrammar {
    var reader: FaultReader
    private var conditions: [FaultCondition] = []
    private var names: Set<String> = []
    private var direction: FaultDirection?

    init(reader: FaultReader) { self.reader = reader }

    mutating func rule() throws(FaultProblem) -> FaultRule {
        while true {
            let word = try reader.next("an effect is missing, such as latency 200ms or reset")
            guard word.kind == .plain else { throw unknown(word) }
            if let way = FaultDirection(rawValue: word.text) {
                guard direction == nil else { throw word.problem("the direction is already given") }
                direction = way
            } else if let condition = try condition(word) {
                guard names.insert(condition.key).inserted else { throw word.problem("is given twice") }
                conditions.append(condition)
            } else if let effect = try effect(word) {
                return try finish(word, effect)
            } else {
                throw unknown(word)
            }
        }
    }

    private mutating func finish(_ word: FaultReader.Word, _ effect: FaultEffect) throws(FaultProblem) -> FaultRule {
        if let extra = try reader.next() {
            throw extra.problem("\(word.text) is \(FaultWord.effect(effect).usage); unexpected word after it")
        }
        if let problem = FaultRule(effect, direction, when: conditions).contradiction { throw word.problem(problem) }
        return FaultRule(effect, direction, when: conditions)
    }

    private func unknown(_ word: FaultReader.Word) -> FaultProblem {
        if word.text.hasPrefix("#") {
            return word.problem(
                "a rule counts connections as they arrive: write connection N instead; only a breakpoint takes id:"
                    + word.text.dropFirst())
        }
        let known = FaultWord.names(.condition, .direction, .effect, .datagrams)
        let suggestion = Spelling.suggestion(for: word.text, among: known)
        let effects = "; effects are " + FaultWord.names(.effect, .datagrams).joined(separator: ", ")
        return word.problem(
            "not a condition, a direction or an effect" + (suggestion.isEmpty ? effects : suggestion))
    }

    /// Returns the condition that this word begins, or `nil` if there is none.
    private mutating func condition(_ word: FaultReader.Word) throws(FaultProblem) -> FaultCondition? {
        let name = word.text
        switch name {
        case "connection": return .connection(try reader.number(after: name))
        case "every": return .every(try reader.number(after: name))
        case "first": return .first(try reader.number(after: name))
        case "peer": return try reader.network(after: name)
        case "match": return .match(try reader.pattern(after: name))
        case "frame": return .frame(try reader.frame(after: name))
        case "prob": return .probability(try reader.share(after: name))
        case "on":
            guard try reader.accept("exchange") else { throw notExchange(word, try reader.next()) }
            return .exchange(try reader.number(after: "exchange"))
        case "after" where try reader.accept("question"):
            return .question(try reader.pattern(after: "question"))
        case "after":
            let value = try reader.next("after needs bytes or a time after it, as in after 1K or after 5s")
            if let size = FaultReader.size(value) { return .afterBytes(size) }
            if let time = FaultReader.time(value) { return .afterTime(time) }
            throw value.problem("after needs bytes (512, 8K) or a time (200ms, 5s)")
        default: return nil
        }
    }

    /// The problem of another word after `on`.
    private func notExchange(_ word: FaultReader.Word, _ next: FaultReader.Word?) -> FaultProblem {
        guard let next, next.text.hasPrefix("exch") else {
            return word.problem("on exchange N is a condition, as in on exchange 3; breakpoints are not rules")
        }
        return next.problem("on needs exchange and a number after it, as in on exchange 3")
    }

    /// Returns the effect that this word begins, or `nil` if there is none.
    private mutating func effect(_ word: FaultReader.Word) throws(FaultProblem) -> FaultEffect? {
        let name = word.text
        switch name {
        case "latency":
            let time = try reader.time(after: name)
            return .latency(time, jitter: try reader.accept("jitter") ? try reader.time(after: "jitter") : .zero)
        case "bandwidth": return .bandwidth(try reader.size(after: name))
        case "slice":
            let count = try reader.size(after: name)
            let vary = try reader.accept("vary") ? try reader.size(after: "vary") : 0
            return .slice(count, vary: vary, every: try pace())
        case "dribble": return .slice(1, vary: 0, every: try pace())
        case "stall": return .stall(reader.isAtEnd ? nil : try reader.time(after: name))
        case "limit": return .limit(try reader.size(after: name, atLeast: 0))
        case "reset": return .reset
        case "half-close": return .halfClose
        case "slow-close": return .slowClose(try reader.time(after: name))
        case "corrupt": return .corrupt(bits: try bits())
        case "insert": return .insert(try filled(name))
        case "replace": return try replacement()
        case "refuse": return .refuse
        case "no-accept": return .noAccept
        case "loss": return .loss(try reader.share(after: name))
        case "duplicate": return .duplicate(try reader.share(after: name))
        case "reorder":
            let share = try reader.share(after: name)
            return .reorder(share, try reader.time(after: name))
        case "delay": return .delay(try reader.time(after: name))
        case "truncate": return .truncate(try reader.size(after: name, atLeast: 0))
        default: return nil
        }
    }

    private mutating func pace() throws(FaultProblem) -> Duration? {
        try reader.accept("every") ? try reader.time(after: "every") : nil
    }

    private mutating func bits() throws(FaultProblem) -> UInt64 {
        let number = try reader.next("corrupt needs a number of bits after it, as in corrupt 3 bits")
        guard let count = UInt64(number.text), (1...8_192).contains(count), number.kind == .plain else {
            throw number.problem("corrupt needs 1 to 8192 bits, as in corrupt 3 bits")
        }
        var isNamed = try reader.accept("bits")
        if !isNamed { isNamed = try reader.accept("bit") }
        guard isNamed else {
            guard let word = try reader.next() else { throw reader.missing("corrupt \(count) needs bits after it") }
            throw word.problem("corrupt \(count) needs bits after it")
        }
        return count
    }

    private mutating func filled(_ name: String) throws(FaultProblem) -> [UInt8] {
        let word = try reader.peek()
        let bytes = try reader.bytes(after: name)
        if bytes.isEmpty, let word { throw word.problem("\(name) needs at least one byte") }
        return bytes
    }

    private mutating func replacement() throws(FaultProblem) -> FaultEffect {
        let word = try reader.peek()
        let pattern = try reader.pattern(after: "replace")
        if case .expression(let expression) = pattern, expression.matches([]), let word {
            throw word.problem("also matches the empty string, which cannot be replaced")
        }
        guard try reader.accept("with") else {
            guard let word = try reader.next() else {
                throw reader.missing("replace needs with BYTES after its pattern")
            }
            throw word.problem("replace needs with BYTES here")
        }
        return .replace(pattern, with: try reader.bytes(after: "with"))
    }
}

extension FaultCondition {
    /// The name that only one condition of a rule can have.
    fileprivate var key: String {
        switch self {
        case .connection: "connection"
        case .every: "every"
        case .first: "first"
        case .peer: "peer"
        case .afterBytes, .afterTime: "after"
        case .match: "match"
        case .frame: "frame"
        case .exchange: "exchange"
        case .question: "question"
        case .probability: "prob"
        }
    }

    /// Whether the condition selects connections rather than a place in their streams.
    var choosesConnections: Bool {
        switch self {
        case .connection, .every, .first, .peer: true
        case .afterBytes, .afterTime, .match, .frame, .exchange, .question, .probability: false
        }
    }
}

extension FaultRule {
    /// Why the rule's parts are incompatible, or `nil` if they are compatible.
    fileprivate var contradiction: String? {
        let isAfterTimeOnly = conditions.allSatisfy { if case .afterTime = $0 { true } else { false } }
        let isDrawn = conditions.contains { if case .probability = $0 { true } else { false } }
        let hasFrame = conditions.contains { if case .frame = $0 { true } else { false } }
        let hasQuestion = conditions.contains { if case .question = $0 { true } else { false } }
        switch effect {
        case .noAccept where direction != nil || !isAfterTimeOnly:
            return "no-accept applies to the listener: it takes no direction and no condition except after TIME"
        case .refuse where direction != nil:
            return "refuse ends the whole connection: it takes no direction"
        case .refuse
        where !conditions.allSatisfy({ condition in
            if case .probability = condition { true } else { condition.choosesConnections }
        }):
            return "refuse happens before any byte: it takes connection, every, first, peer and prob only"
        case .loss where isDrawn, .duplicate where isDrawn, .reorder where isDrawn:
            return "\(effect.name) has a probability of its own; omit prob"
        case _ where effect.carrier == .datagrams && hasFrame:
            return "\(effect.name) is for datagrams, which have no WebSocket frames"
        case _ where effect.carrier == .datagrams && conditions.contains(where: \.choosesExchanges):
            return "\(effect.name) is for datagrams, which have no requests and answers"
        case _ where hasQuestion && direction == .upstream:
            return "after question is about answers, which go downstream"
        default: return nil
        }
    }
}
