import SocketCore

/// Chains of waiting, as notes, and as warnings where what they lead to is a fault by itself.
extension HostRules {
    /// The most questions of the whole host whose chains are followed.
    private static let mostOld = 64

    /// Returns the chains of those questions that have waited for long.
    func findWaits(_ after: Duration) -> [WaitChain] {
        let old = WaitQuestion.oldest(in: sockets, after, most: Self.mostOld)
        guard !old.isEmpty else { return [] }
        var chains = WaitChains(facts)
        let askers = scene.sockets(old).filter { socket in
            scene.owners(of: socket).contains { scene.programs[$0.process] != nil }
        }
        let questions = askers.compactMap(chains.questions.question(by:)).filter {
            // A SYN has a lint of its own.
            $0.form != .tie && $0.form != .handshake && $0.age ?? .zero >= after
        }
        return WaitChains.grouped(chains.chains(from: questions))
    }

    /// Reports the chains that nothing else explains, and those that end at a stopped program.
    mutating func waiting() -> [Verdict] {
        waits.compactMap { chain in
            guard chain.ring == nil, !chain.end.isLoop else { return nil }
            return verdict(chain, isFault: chain.end.kind == .stopped && chain.end.lasting ?? .zero >= time(.waitChain))
        }
    }

    /// Reports the programs that wait for each other's answer.
    mutating func mutualWaits() -> [Verdict] {
        waits.compactMap { chain in
            guard chain.ring == 0 else { return nil }
            let isLong = chain.links.allSatisfy { $0.question.thread?.idle ?? .zero >= time(.waitChain) }
            return verdict(chain, isFault: chain.isProven && isLong)
        }
    }

    /// Reports the event loops that stand, and the threads that run without a pause, while somebody waits.
    mutating func loops(_ after: Duration) -> [Verdict] {
        let found = chains([.stuck], after) + unread([.stuck], after) + unaccepted(.loop)
        let known = Set(found.flatMap { $0.processes.prefix(1) })
        return found + runners(after).filter { known.isDisjoint(with: $0.processes.prefix(1)) }
    }

    /// Reports the programs that have run without a pause while somebody waits for them.
    private mutating func runners(_ after: Duration) -> [Verdict] {
        waits.compactMap { chain in
            guard chain.end.isLoop else { return nil }
            guard let time = chain.end.lasting, time >= after else {
                undecided.formUnion(chain.sockets)
                return nil
            }
            return verdict(chain, isFault: true)
        }
    }

    private func verdict(_ chain: WaitChain, isFault: Bool) -> Verdict {
        let words = WaitWords(facts: facts, chain: chain)
        var verdict = Verdict(
            words.claim, because: words.reason, on: scene.sockets(chain.sockets),
            atMost: isFault ? .critical : .note, evidence: evidence(chain))
        verdict.sockets = chain.sockets.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        (verdict.lasting, verdict.sentence) = (chain.age, words.sentence)
        let askers = chain.links.compactMap { $0.owner.flatMap { scene.look.processes[$0.process]?.id } }
        verdict.processes = ([chain.end.process].compactMap { $0 } + askers).reduce(into: []) {
            if !$0.contains($1) { $0.append($1) }
        }
        verdict.subject = words.target
        verdict.next = words.next
        verdict.more = chain.more
        verdict.ends = words.lines.map { line in
            Verdict.End(name: line.name, descriptor: nil, words: "\(line.place)  \(line.words)")
        }
        return verdict
    }

    private func evidence(_ chain: WaitChain) -> Evidence {
        let isSeen = chain.links.allSatisfy { link in
            link.owner.flatMap { scene.programs[$0.process] }?.showsCalls ?? false
        }
        return isSeen ? .arguments : .queues
    }
}
