import InspectorCore
import SocketKit
import SocketWorkshop

/// A change to a run's rules and breakpoints.
package enum FaultChange: Sendable {
    case added([NumberedFault])
    case removed(Int)
    case broke(NumberedBreak)
    case breakRemoved(Int)
}

/// A group of connections that rules and breakpoints can apply to: a relay's, or this engine's own.
package protocol FaultTarget: AnyObject, Sendable {
    /// Called on the engine's queue when rules or breakpoints are added or removed.
    func change(_ change: FaultChange)
    /// The connections held by a breakpoint. Read on the engine's queue.
    var held: [any FaultedConnection] { get }
    func onQueue(_ body: @escaping @Sendable () -> Void)
}

/// A connection that a breakpoint can hold.
package protocol FaultedConnection: AnyObject, Sendable {
    var faulted: FaultedPair? { get }
    /// The session that the list shows, or `nil` if it has ended.
    var session: SocketID? { get }
    func has(_ session: SocketID) -> Bool
    func resetBoth()
}

/// The rules and breakpoints of this run, and the relays that they apply to. Can be called on any thread. Changes are
/// carried out on the engine's queue.
package final class FaultControl: Sendable {
    private struct State {
        var book: FaultBook
        var breaks: [NumberedBreak] = []
        var lastBreak = 0
        var holdLimit: Duration?
        var profiles: [String: [String]]
        var targets: [Target] = []
        /// On a screen and in a script, anything may be opened later.
        var carriers = FaultCarriers([])
    }

    private struct Target {
        weak var target: (any FaultTarget)?
    }

    private let state: Lock<State>

    /// The most breakpoints at one time.
    private static let breakLimit = 64

    package init(_ options: FaultOptions = FaultOptions()) {
        var book = FaultBook(seed: options.seed ?? UInt64.random(in: 0..<1 << 32))
        book.delayBuffer = options.delayBuffer
        var state = State(book: book, profiles: options.profiles)
        state.holdLimit = options.holdLimit
        self.state = Lock(state)
    }

    /// A note about the seed, or `nil` if there are no rules and so nothing is drawn.
    package var seedNote: String? {
        let listing = listing
        return listing.rules.isEmpty
            ? nil : "\(Format.count(listing.rules.count, "fault")), seed \(listing.seed); :fault list lists them"
    }

    package func add(_ target: any FaultTarget) {
        state.withLock { state in
            state.targets.removeAll { $0.target == nil }
            state.targets.append(Target(target: target))
        }
    }

    /// What a rule or a breakpoint added during the run can apply to.
    package var carriers: FaultCarriers { state.withLock { $0.carriers } }

    /// Declares what this run opens, for runs that can't open anything later.
    package func opensOnly(_ opening: [Effect]) { state.withLock { $0.carriers = FaultCarriers(opening) } }

    private var targets: [any FaultTarget] { state.withLock { $0.targets.compactMap(\.target) } }

    private func tell(_ change: FaultChange) {
        for target in targets { target.onQueue { target.change(change) } }
    }

    // MARK: Rules

    /// Adds a rule, or the rules of a profile.
    /// - Returns: a sentence that lists them.
    package func add(_ text: String, to carried: FaultCarriers = FaultCarriers([])) throws(FaultProblem) -> String {
        var rules: [FaultRule] = []
        for text in try texts(text) { rules.append(try FaultRule.parse(text)) }
        for rule in rules { try carried.check(rule.effect, in: text) }
        let (added, seed) = state.withLock { ($0.book.add(rules), $0.book.seed) }
        guard let added else {
            throw FaultProblem(
                word: text, column: 1, message: "there are already \(FaultBook.limit) rules, the limit of a run")
        }
        tell(.added(added))
        return added.map { "fault \($0.number): \($0.rule)" }.joined(separator: "; ") + " (seed \(seed))"
    }

    /// Returns the rules of the profile of that name, or else the text itself.
    private func texts(_ text: String) throws(FaultProblem) -> [String] {
        let name = text.trimmingBlanks
        let profiles = state.withLock { $0.profiles }
        if let rules = profiles[name] { return rules }
        do throws(FaultProblem) {
            _ = try FaultRule.parse(text)
            return [text]
        } catch {
            guard !name.isEmpty, !name.contains(" "), error.column == 1 else { throw error }
            let names = profiles.keys.sorted().joined(separator: ", ")
            throw FaultProblem(word: error.word, column: 1, message: error.message + "; profiles are \(names)")
        }
    }

    /// Removes a rule. Returns a sentence if no rule has that number.
    package func remove(_ number: Int) -> String? {
        guard state.withLock({ $0.book.remove(number) }) else { return "there is no fault \(number)" }
        tell(.removed(number))
        return nil
    }

    /// Removes all rules and returns their number.
    package func clear() -> Int {
        let numbers = state.withLock { state in
            defer { state.book.clear() }
            return state.book.rules.map(\.number)
        }
        for number in numbers { tell(.removed(number)) }
        return numbers.count
    }

    package var listing: FaultListing {
        state.withLock { state in
            FaultListing(
                seed: state.book.seed, rules: state.book.rules.map { ($0.number, "\($0.rule)") },
                breakpoints: state.breaks.map { ($0.number, "\($0.breakpoint)") })
        }
    }

    // MARK: Breakpoints

    package func addBreak(_ text: String, to carried: FaultCarriers = FaultCarriers([])) throws(FaultProblem) -> String
    {
        let breakpoint = try Breakpoint.parse(text)
        try carried.check(breakpoint, in: text)
        try breakpoint.checkFilter()
        let added = state.withLock { state -> NumberedBreak? in
            guard state.breaks.count < Self.breakLimit else { return nil }
            state.lastBreak += 1
            state.breaks.append(NumberedBreak(state.lastBreak, breakpoint))
            return state.breaks.last
        }
        guard let added else {
            throw FaultProblem(word: text, column: 1, message: "there are already \(Self.breakLimit) breakpoints")
        }
        tell(.broke(added))
        return "breakpoint \(added.number): \(added.breakpoint)"
    }

    /// Removes a breakpoint and releases what it holds. Returns a sentence if no breakpoint has that number.
    package func removeBreak(_ number: Int) -> String? {
        let isThere = state.withLock { state in
            defer { state.breaks.removeAll { $0.number == number } }
            return state.breaks.contains { $0.number == number }
        }
        guard isThere else { return "there is no breakpoint \(number)" }
        tell(.breakRemoved(number))
        return nil
    }

    /// Removes all breakpoints and releases what they hold. Returns their number.
    package func clearBreaks() -> Int {
        let numbers = state.withLock { state in
            defer { state.breaks = [] }
            return state.breaks.map(\.number)
        }
        for number in numbers { tell(.breakRemoved(number)) }
        return numbers.count
    }

    /// Releases the held bytes of one connection, or of the connection held longest.
    /// - Parameter then: receives which connection that was, or why there was none. Called on the engine's queue.
    package func release(
        _ release: BreakRelease, of session: SocketID?, _ direction: FaultDirection? = nil,
        then: @escaping @Sendable (FaultAnswer) -> Void
    ) {
        let done =
            switch release {
            case .bytes(let count): "released up to \(count) B of"
            case .read: "released one read of"
            case .drop: "dropped the held bytes of"
            case .all, .edit: "released"
            }
        withHeld(session, done, then) { $0.faulted?.release(release, direction) }
    }

    /// Ends one held connection, or the one held longest, with RST on both sides. Calls `then` on the engine's queue.
    package func reset(_ session: SocketID?, then: @escaping @Sendable (FaultAnswer) -> Void) {
        withHeld(session, "reset", then) { $0.resetBoth() }
    }

    private func withHeld(
        _ session: SocketID?, _ done: String, _ then: @escaping @Sendable (FaultAnswer) -> Void,
        _ body: @escaping @Sendable (any FaultedConnection) -> Void
    ) {
        let targets = targets
        let refusal = FaultAnswer(lines: [session.map { "\($0) is not held" } ?? "nothing is held"], isRefusal: true)
        guard let first = targets.first else { return then(refusal) }
        first.onQueue {
            let held = Self.held(targets)
            let connection = session.map { id in held.first { $0.has(id) } } ?? held.first
            guard let connection else { return then(refusal) }
            let name = session ?? connection.session
            body(connection)
            then(FaultAnswer(lines: [name.map { "\(done) \($0)" } ?? done]))
        }
    }

    /// Returns the held connections, the one held longest first. Call it on the engine's queue.
    private static func held(_ targets: [any FaultTarget]) -> [any FaultedConnection] {
        func since(_ connection: any FaultedConnection) -> MonotonicTime { connection.faulted?.heldSince ?? .zero }
        return targets.flatMap(\.held).sorted { since($0) < since($1) }
    }

    /// Passes up to `most` held bytes of a connection to `then`, for editing. Calls it on the engine's queue.
    package func heldBytes(of session: SocketID, _ most: Int, then: @escaping @Sendable ([UInt8]) -> Void) {
        let targets = targets
        guard let first = targets.first else { return then([]) }
        first.onQueue {
            let pair = targets.flatMap(\.held).first { $0.has(session) }
            then(pair?.faulted?.heldBytes(most) ?? [])
        }
    }

    /// Lists the held connections, the one held longest first. Calls `then` on the engine's queue.
    package func listHeld(then: @escaping @Sendable ([String]) -> Void) {
        let targets = targets
        guard let first = targets.first else { return then([]) }
        first.onQueue {
            let now = SystemClock().now
            then(
                Self.held(targets).compactMap { connection in
                    guard let hold = connection.faulted?.meter.snapshot.hold else { return nil }
                    return FaultWords.line(connection.session, hold, now: now)
                })
        }
    }

    /// Counts the held connections. Calls `then` on the engine's queue.
    package func heldCount(then: @escaping @Sendable (Int) -> Void) {
        let targets = targets
        guard let first = targets.first else { return then(0) }
        first.onQueue { then(targets.reduce(0) { $0 + $1.held.count }) }
    }

    // MARK: For a connection

    package var rules: [NumberedFault] { state.withLock { $0.book.rules } }
    package var seed: UInt64 { state.withLock { $0.book.seed } }
    package var delayBuffer: Int { state.withLock { $0.book.delayBuffer } }

    /// Returns the faults of the nth connection of a listener, or `nil` if none applies.
    package func faults(
        of connection: UInt64, _ socket: SocketSnapshot, began: @autoclosure () -> MonotonicTime
    ) -> RelayFaults? {
        let (book, breaks, holdLimit) = state.withLock { ($0.book, $0.breaks, $0.holdLimit) }
        guard !book.rules.isEmpty || !breaks.isEmpty else { return nil }
        let rules = book.rules(of: connection, peer: socket.peer?.ip).filter { $0.rule.effect.concernsStreams }
        let points = breaks.filter { Self.concerns($0, socket) }
        guard !rules.isEmpty || !points.isEmpty else { return nil }
        var faults = empty(connection, began(), book, holdLimit)
        for rule in rules { faults.add(rule) }
        for point in points { faults.add(point) }
        return faults
    }

    /// Returns an empty set of faults for a connection whose legs have already sent `passed` bytes.
    package func noFaults(of connection: UInt64, began: MonotonicTime, passed: [RelayMachine.Leg: UInt64])
        -> RelayFaults
    {
        let (book, holdLimit) = state.withLock { ($0.book, $0.holdLimit) }
        return empty(connection, began, book, holdLimit, passed)
    }

    private func empty(
        _ connection: UInt64, _ began: MonotonicTime, _ book: FaultBook, _ holdLimit: Duration?,
        _ passed: [RelayMachine.Leg: UInt64] = [:]
    ) -> RelayFaults {
        RelayFaults(
            seed: book.seed, connection: connection, began: began, delayBuffer: book.delayBuffer,
            holdLimit: holdLimit, passed: passed)
    }

    package static func concerns(_ breakpoint: NumberedBreak, _ socket: SocketSnapshot) -> Bool {
        guard !breakpoint.breakpoint.filter.isEmpty,
            case .success(let filter) = Filter.parse(breakpoint.breakpoint.filter)
        else { return true }
        return !filter.matching([socket], socket.opened, Findings(LintSettings())).isEmpty
    }

    /// Whether a rule selects the nth connection.
    package func applies(_ rule: NumberedFault, to connection: UInt64, _ peer: IPAddress?) -> Bool {
        state.withLock { $0.book }.applies(rule, to: connection, peer)
    }

    /// Returns the rule that refuses the nth connection of a listener, or `nil` if none does.
    package func refusal(of connection: UInt64, _ peer: IPAddress?) -> NumberedFault? {
        let book = state.withLock { $0.book }
        guard !book.rules.isEmpty else { return nil }
        return book.rules(of: connection, peer: peer).first { $0.rule.effect == .refuse }
    }

    /// The rules that stop listeners from accepting.
    package var acceptRules: [NumberedFault] {
        state.withLock { $0.book.rules.filter { $0.rule.effect == .noAccept } }
    }
}

/// A list of the rules and breakpoints.
package struct FaultListing: Sendable {
    package var seed: UInt64
    package var rules: [(number: Int, text: String)]
    package var breakpoints: [(number: Int, text: String)]

    /// One line for each, for the control socket.
    package var lines: [String] {
        ["seed \(seed)"] + rules.map { "fault \($0.number): \($0.text)" }
            + breakpoints.map { "breakpoint \($0.number): \($0.text)" }
            + (rules.isEmpty && breakpoints.isEmpty ? ["no faults and no breakpoints"] : [])
    }
}

/// The fault options of the command line and the configuration.
package struct FaultOptions: Equatable, Sendable {
    /// Rules or profile names, in order.
    package var rules: [String] = []
    package var breaks: [String] = []
    /// The seed, or `nil` to draw one and show it.
    package var seed: UInt64?
    package var delayBuffer = FaultBook.delayBuffer
    package var holdLimit: Duration?
    package var profiles = FaultProfile.builtIn

    package init() {}
}

extension String {
    fileprivate var trimmingBlanks: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
