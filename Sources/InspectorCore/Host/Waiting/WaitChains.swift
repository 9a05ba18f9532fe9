import SocketCore

/// Follows unanswered questions from program to program.
struct WaitChains {
    let facts: HostFacts
    let questions: WaitQuestions
    /// The unanswered questions that each process asks, the oldest first.
    private var asked: [Int32: [WaitQuestion]] = [:]
    private var steps: [UInt64: Step] = [:]
    private var services: [Int32: WaitService] = [:]

    /// The most links of a chain, and the most questions of one process that are looked at.
    static let mostLinks = 16
    static let mostQuestions = 256

    init(_ facts: HostFacts) { (self.facts, questions) = (facts, WaitQuestions(facts: facts)) }

    private var scene: HostScene { facts.scene }

    /// Where a question leads.
    enum Step {
        case link(WaitChain.Link)
        case end(WaitEnd)
    }

    /// Returns the chains that begin with one of these questions and are part of no longer one, each once.
    mutating func chains(from candidates: [WaitQuestion]) -> [WaitChain] {
        var led: Set<UInt64> = []
        for question in candidates {
            if case .link(let link) = step(from: question) { led.insert(link.question.id) }
        }
        var found: [WaitChain] = [], rings: Set<Set<UInt64>> = []
        // Those that nothing leads to come first; what is left is in a ring.
        for question in candidates.filter({ !led.contains($0.id) }) + candidates.filter({ led.contains($0.id) }) {
            let chain = follow(question)
            guard led.contains(question.id) else {
                found.append(chain)
                continue
            }
            if chain.ring == 0, rings.insert(Set(chain.links.map(\.question.id))).inserted { found.append(chain) }
        }
        return found
    }

    /// Joins the chains through the same programs, whoever asks first. The one that has waited longest is kept.
    static func grouped(_ chains: [WaitChain]) -> [WaitChain] {
        var places: [[String]: Int] = [:], kept: [WaitChain] = []
        for chain in chains.sorted(by: { $0.links[0].question.isBefore($1.links[0].question) }) {
            let last = chain.links.last?.question.asker.peer ?? .unnamed
            let end = [chain.end.kind.rawValue, "\(chain.end.process?.number ?? 0)", "\(last)", "\(chain.ring ?? -1)"]
            let key = chain.links.dropFirst().map { "\($0.owner?.process ?? 0)" } + end
            if let place = places[key] {
                kept[place].more += 1
            } else {
                places[key] = kept.count
                kept.append(chain)
            }
        }
        return kept
    }

    private mutating func follow(_ start: WaitQuestion) -> WaitChain {
        var links = [WaitChain.Link(question: start, owner: owner(of: start.asker))]
        while let last = links.last {
            switch step(from: last.question) {
            case .end(let end): return WaitChain(links: links, end: end)
            case .link(let link):
                if let place = links.firstIndex(where: { $0.question.id == link.question.id }) {
                    if place == 0 { (links[0].certainty, links[0].reason) = (link.certainty, link.reason) }
                    return WaitChain(links: links, end: WaitEnd(.ring, "waits in turn"), ring: place)
                }
                guard links.count < Self.mostLinks else {
                    return WaitChain(
                        links: links,
                        end: WaitEnd(.hidden, "has a request of its own; the chain is not followed further"))
                }
                links.append(link)
            }
        }
        return WaitChain(links: links, end: WaitEnd(.hidden, "is not visible"))
    }

    /// Returns the unanswered questions of a process, the oldest first.
    mutating func asked(by process: Int32) -> [WaitQuestion] {
        if let known = asked[process] { return known }
        let inodes = scene.look.processes[process].map { Set($0.sockets.values) } ?? []
        let found = inodes.compactMap { scene.socket(inode: $0).flatMap(questions.question(by:)) }
        let oldest = Array(found.sorted { $0.isBefore($1) }.prefix(Self.mostQuestions))
        asked[process] = oldest
        return oldest
    }

    // MARK: One step

    mutating func step(from question: WaitQuestion) -> Step {
        if let known = steps[question.id] { return known }
        let found = findStep(from: question)
        steps[question.id] = found
        return found
    }

    private mutating func findStep(from question: WaitQuestion) -> Step {
        let ends = WaitEnds(facts: facts, question: question)
        guard let answerer = question.answerer else { return .end(ends.withoutPeer()) }
        let owners = servers(of: answerer)
        guard owners.count == 1, let owner = owners.first else { return .end(ends.unknown(owners, answerer)) }
        guard let program = scene.programs[owner.process] else { return .end(ends.hidden(owner)) }
        if let halt = program.halt { return .end(ends.stopped(program, owner, halt)) }
        let server = WaitServer(program, answerer, owner.descriptor)
        if let running = running(program, question), server.mayBe(running.thread) {
            return .end(ends.running(owner, running.thread, running.time, isLoop: server.isInLoop))
        }
        if let thread = server.thread, let link = proven(thread, owner.process, but: answerer, server) {
            return .link(link)
        }
        let candidates = asked(by: owner.process).filter { $0.id != answerer.id }
        if server.maySwitch {
            let (link, open) = likely(candidates, question, owner.process)
            if let link { return .link(link) }
            if open > 1 { return .end(ends.several(owner, open)) }
        }
        return .end(ends.end(of: program, owner, server, older: candidates.count))
    }

    /// Returns the processes that may answer here: of those that have the socket open, not the parents of others, which
    /// only started them.
    private func servers(of socket: HostSocket) -> [HostLook.Owner] {
        let owners = Dictionary(scene.owners(of: socket).map { ($0.process, $0) }) { first, _ in first }
        let parents = Set(owners.keys.compactMap { scene.look.processes[$0]?.parent })
        return owners.values.filter { !parents.contains($0.process) }.sorted { $0.process < $1.process }
    }

    /// Returns the program that asks here.
    private func owner(of socket: HostSocket) -> HostLook.Owner? {
        let owners = servers(of: socket)
        return owners.count == 1
            ? owners[0] : owners.first { $0.process == facts.asker.asking(for: socket).process?.number }
    }

    /// Returns the link to the question that this thread sits in a call for.
    private mutating func proven(
        _ thread: HostThread, _ process: Int32, but served: HostSocket, _ server: WaitServer
    ) -> WaitChain.Link? {
        let waited = asked(by: process).filter { $0.id != served.id && $0.thread?.number == thread.number }
        guard waited.count == 1, let next = waited.first else { return nil }
        return link(
            to: next, of: process, server.isOnly ? .proven : .probable,
            server.isOnly ? "its only thread" : "the thread of its event loop")
    }

    // MARK: Event loops

    /// A question asked within this time of another was probably asked because of it.
    private static let soon = Duration.milliseconds(50)

    /// Returns the question that a program probably asks because of another, and the number of those it may be.
    private mutating func likely(
        _ candidates: [WaitQuestion], _ question: WaitQuestion, _ process: Int32
    ) -> (link: WaitChain.Link?, open: Int) {
        guard let came = Self.arrival(of: question) else {
            guard candidates.count == 1, let only = candidates.first else { return (nil, candidates.count) }
            return (link(to: only, of: process, .probable, "its only request"), 1)
        }
        // Asked no earlier than the question came, as far as the clock can tell.
        let later = candidates.filter { $0.least.map { $0 <= came + WaitQuestion.tick } ?? true }
        let close = later.filter { $0.moment.map { came - $0 <= Self.soon } ?? false }
        if close.count == 1, let next = close.first, let age = next.moment {
            let within = max(came - age, WaitQuestion.tick)
            let reason = "sent within \(Format.duration(within)) of the request"
            return (link(to: next, of: process, .probable, reason), 1)
        }
        guard close.isEmpty, later.count == 1, let only = later.first else { return (nil, later.count) }
        // Another request that came right before explains it better.
        if let age = only.moment, isClaimed(age, of: process, by: question) { return (nil, 0) }
        return (link(to: only, of: process, .probable, "its only request since that one"), 1)
    }

    private func link(
        to question: WaitQuestion, of process: Int32, _ certainty: WaitChain.Certainty, _ reason: String
    ) -> WaitChain.Link {
        let owner = scene.owners(of: question.asker).first { $0.process == process }
        return WaitChain.Link(question: question, owner: owner, certainty: certainty, reason: reason)
    }

    /// Returns how long ago the program was asked.
    private static func arrival(of question: WaitQuestion) -> Duration? {
        question.moment.map { question.answerer?.tcp?.lastReceived ?? $0 }
    }

    /// Whether another client of the program asked within a moment before this age.
    private mutating func isClaimed(_ age: Duration, of process: Int32, by question: WaitQuestion) -> Bool {
        service(of: process).requests.contains { id, came in
            id != question.answerer?.id && came - age <= Self.soon && age <= came + WaitQuestion.tick
        }
    }

    private mutating func service(of process: Int32) -> WaitService {
        if let known = services[process] { return known }
        let found = WaitService(facts, scene.look.processes[process])
        services[process] = found
        return found
    }

    // MARK: Running threads

    /// A thread has run without a pause if it did for at least this long.
    private static let moment = Duration.milliseconds(250)

    /// Returns a thread of a program that has run without a pause and served nobody meanwhile.
    private mutating func running(
        _ program: HostProgram, _ question: WaitQuestion
    ) -> (thread: HostThread, time: Duration)? {
        let running = program.process.threads.compactMap { thread in
            facts.ledger.running(thread).map { (thread: thread, time: $0) }
        }
        guard let longest = running.max(by: { $0.time < $1.time }), longest.time >= Self.moment else { return nil }
        let time = min(longest.time, question.age ?? longest.time)
        let service = service(of: program.process.id.number)
        if service.hasRead || service.answered.map({ $0 < time }) ?? false { return nil }
        return (longest.thread, longest.time)
    }
}

/// Which thread of a program serves a connection, as far as the kernel shows it.
struct WaitServer {
    /// The only thread, or the one of the event loop that the connection belongs to.
    let thread: HostThread?
    let isOnly: Bool
    /// Whether it belongs to an event loop, and whether a thread waits in that.
    let isInLoop: Bool
    let isLoop: Bool
    /// Whether the program may serve others meanwhile, so that not every question of it is asked because of this one.
    let maySwitch: Bool

    init(_ program: HostProgram, _ socket: HostSocket, _ descriptor: Int32) {
        let threads = program.process.threads
        isOnly = threads.count == 1
        let entries = program.entries(of: socket.inode)
        let waiter =
            entries.lazy.compactMap { program.waiter(in: $0.set)?.thread }.first ?? program.reader(of: descriptor)
        (isInLoop, isLoop) = (!entries.isEmpty, waiter != nil)
        thread = isOnly ? threads.first : waiter ?? (entries.isEmpty || program.process.isGo ? nil : program.main)
        let kind = thread?.call?.kind
        maySwitch = !isOnly || waiter != nil || kind == nil || kind == .poll || kind == .pollSet
    }

    /// Whether this thread may be the one that serves it.
    func mayBe(_ other: HostThread) -> Bool { thread == nil || thread?.number == other.number }
}
