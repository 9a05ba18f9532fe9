import SocketCore

/// Who waits for whom, from the first who waits to what the last one does.
struct WaitChain: Sendable {
    /// How sure it is that a program asks a question because of the one that it was asked.
    enum Certainty: String, Sendable {
        /// The thread that serves the one sits in a call on the other.
        case proven
        /// The program has asked no other question since, or asked this one right after.
        case probable
    }

    /// A question on the way, with the reason why it is the next one. The first has none.
    struct Link: Sendable {
        var question: WaitQuestion
        /// The program that asks, and its descriptor, if they are known.
        var owner: HostLook.Owner?
        var certainty: Certainty?
        /// `asked within 20ms of the request`
        var reason: String?
    }

    var links: [Link]
    var end: WaitEnd
    /// The place of the link that the last one leads back to, if it is a ring.
    var ring: Int?
    /// The number of other chains through the same programs.
    var more = 0

    /// The minimum time that the first has waited, or `nil` if not known.
    var age: Duration? { links.first?.question.age }
    var isProven: Bool { links.dropFirst().allSatisfy { $0.certainty == .proven } }
    /// Every socket on the way, the first asker's first.
    var sockets: [UInt64] { links.flatMap { [$0.question.asker.id, $0.question.answerer?.id].compactMap { $0 } } }
}

/// What a chain of waiting leads to: what the last program does, or why nothing more is seen.
struct WaitEnd: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case call, running, disk, lock, child, sleep, stopped
        /// An event loop that waits for its next event, or a program whose threads share the work.
        case loop, threads
        /// Several questions, of which any may be the next link.
        case several
        /// The peer is on another host.
        case far, handshake, resolver
        case unaccepted, hidden, closed
        /// Each waits for the other's answer.
        case ring
    }

    var kind: Kind
    /// The last program, if it is known.
    var process: HostProcess.ID?
    var descriptor: Int32?
    /// What is said of it after "and": `is in accept4`. Sanitized.
    var words: String
    /// How long it has lasted, if known.
    var lasting: Duration?
    var thread: Int32?
    /// Whether a thread that runs is that of an event loop, which serves everybody. Any other may work for this one.
    var isLoop = false
    /// Whether its thread runs, and only one look has seen it, which does not tell whether it pauses.
    var mayRunOn = false

    init(_ kind: Kind, _ words: String, for lasting: Duration? = nil) {
        (self.kind, self.words, self.lasting) = (kind, words, lasting)
    }
}
