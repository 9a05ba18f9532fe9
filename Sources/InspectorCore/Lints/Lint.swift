import SocketCore

/// One thing that a person should know of: a name, what it means, what to do about it, and a pure check.
///
/// The rows stand in `Lint.all`, which is all that list, detail, summary, filter, options and help know of them.
package struct Lint: Sendable {
    /// What it looks at. Each answers with a sentence about what it found, or nil.
    package enum Check: Sendable {
        /// One live session, at the instant of the snapshot.
        case socket(@Sendable (SocketSnapshot, MonotonicTime) -> String?)
        /// The engine as a whole; `lost` are the events that this inspector missed within the last minute.
        case engine(@Sendable (EngineSnapshot, _ lost: UInt64) -> String?)
    }

    /// As options and filters name it: `read-starved`.
    package var name: String
    /// What it means, for help.
    package var meaning: String
    /// What to do about it, with the commands whose keys are named in braces; see `KeyTable.naming(_:in:)`.
    package var remedy: String
    /// Whether it is shown unless somebody asks for it (`-W`).
    package var isAllowed: Bool
    package var check: Check

    package init(
        _ name: String, _ meaning: String, remedy: String, isAllowed: Bool = false,
        _ check: @escaping @Sendable (SocketSnapshot, MonotonicTime) -> String?
    ) {
        (self.name, self.meaning, self.remedy, self.isAllowed) = (name, meaning, remedy, isAllowed)
        self.check = .socket(check)
    }

    package init(
        engine name: String, _ meaning: String, remedy: String,
        _ check: @escaping @Sendable (EngineSnapshot, _ lost: UInt64) -> String?
    ) {
        (self.name, self.meaning, self.remedy, isAllowed) = (name, meaning, remedy, false)
        self.check = .engine(check)
    }

    /// Every lint, the most telling first. A new one is one more row in one of these tables, and nothing else.
    package static let all: [Lint] = reading + closing + timing + writing + tls + listening + callbacks + itself

    /// The lint of this name.
    package static func named(_ name: String) -> Lint? { all.first { $0.name == name } }

    /// A sentence about a session that is not over, or nil.
    package func finds(_ socket: SocketSnapshot, _ now: MonotonicTime) -> String? {
        switch check {
        case .socket(let check): socket.isLive ? check(socket, now) : nil
        case .engine: nil
        }
    }
}

/// What a lint found.
package struct Finding: Hashable, Sendable {
    /// The lint's name.
    package var lint: String
    /// The session it is about; nil: the engine as a whole.
    package var socket: SocketID?
    package var sentence: String

    /// What to do about it, as the lint's own remedy.
    package var remedy: String { Lint.named(lint)?.remedy ?? "" }
}

/// Which lints are shown: all but those allowed by the table, changed by `-A` and `-W`.
package struct LintSettings: Hashable, Sendable {
    private var allowed = Set(Lint.all.filter(\.isAllowed).map(\.name))

    package init() {}

    /// Never mentions this lint (`all`: none at all); false where there is none of that name.
    package mutating func allow(_ name: String) -> Bool {
        guard let names = Self.names(name) else { return false }
        allowed.formUnion(names)
        return true
    }

    /// Warns of what this lint finds (`all`: of everything); false where there is none of that name.
    package mutating func warn(_ name: String) -> Bool {
        guard let names = Self.names(name) else { return false }
        allowed.subtract(names)
        return true
    }

    private static func names(_ name: String) -> [String]? {
        if name == "all" { return Lint.all.map(\.name) }
        return Lint.named(name).map { [$0.name] }
    }

    /// Whether a lint is shown.
    package func shows(_ lint: Lint) -> Bool { !allowed.contains(lint.name) }
}
