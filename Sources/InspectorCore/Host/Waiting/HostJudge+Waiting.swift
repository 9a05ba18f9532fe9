import SocketCore

/// Who waits for whom.
extension HostJudge {
    /// Returns the inodes of the sockets that a chain of waiting about some sockets and processes may lead through.
    /// `look` has their owners.
    package func reach(of inodes: Set<UInt64>, _ processes: [Int32], in look: HostLook) -> Set<UInt64> {
        var reach = WaitReach(scene, look)
        let near = inodes.compactMap { scene.socket(inode: $0) }
        let all = near + near.compactMap(scene.peer)
        let owners = all.flatMap { look.owners[$0.inode] ?? [] }.map(\.process)
        reach.follow(from: Set(owners + processes))
        return Set(reach.sockets.compactMap { scene[$0]?.inode }).subtracting([0])
    }

    /// The most questions of the whole host that are followed in one look.
    private static let mostOld = 32

    /// Returns the same for the questions of the whole host that have waited for long, the oldest first.
    package func oldReach(in look: HostLook) -> Set<UInt64> {
        let old = WaitQuestion.oldest(in: look.sockets, settings.time(.waitChain), most: Self.mostOld)
        guard !old.isEmpty else { return [] }
        let askers = scene.sockets(old)
        return reach(of: Set(askers.map(\.inode)), [], in: look).union(askers.map(\.inode))
    }

    /// Returns the inodes of one of several hosts whose programs should be examined: those of stalled sockets whose other
    /// end is on another host, and those that a chain of waiting about some sockets and processes may lead through.
    package func reachAcross(
        to host: HostOrdinal, from isMeant: (HostSocket) -> Bool, _ processes: Set<Int32>
    ) -> Set<UInt64> {
        let meant = scene.look.sockets.filter(isMeant).flatMap { socket -> [UInt64] in
            [socket.inode, scene.peer(of: socket)?.inode ?? 0]
        }
        let far = scene.sockets(scene.notable).compactMap { socket -> UInt64? in
            guard socket.host != host, let peer = scene.peer(of: socket), peer.host == host else { return nil }
            return peer.inode
        }
        let reached = reach(of: Set(meant).subtracting([0]), Array(processes), in: scene.look)
            .union(oldReach(in: scene.look)).union(far).union(meant)
        return reached.filter { $0 != 0 && HostOrdinal(ofInode: $0) == host }
    }

    /// Returns the chains of waiting that lead through these sockets or processes, the longest wait first.
    func chains(about sockets: Set<UInt64>, _ processes: Set<Int32>) -> [WaitChain] {
        var reach = WaitReach(scene, scene.look)
        let near = scene.sockets(sockets)
        let owners = (near + near.compactMap(scene.peer)).flatMap(scene.owners).map(\.process)
        reach.follow(from: processes.union(owners))
        var chains = WaitChains(facts)
        let candidates = scene.sockets(reach.sockets.union(sockets)).compactMap(chains.questions.question(by:))
        let found = chains.chains(from: candidates).filter { chain in
            !sockets.isDisjoint(with: chain.sockets)
                || chain.links.contains { $0.owner.map { processes.contains($0.process) } ?? false }
                || chain.end.process.map { processes.contains($0.number) } ?? false
        }
        return WaitChains.grouped(found)
    }

    /// Whether a chain through these ends in a thread that runs, of which another look may say that it does not pause.
    package func mayRunOn(about sockets: Set<UInt64>, _ processes: Set<Int32>) -> Bool {
        chains(about: sockets, processes).contains(where: \.end.mayRunOn)
    }

    /// Returns the words of a chain.
    func words(_ chain: WaitChain) -> WaitWords { WaitWords(facts: facts, chain: chain) }

    /// Returns the age of the oldest unanswered question on these sockets and their other ends, or `nil` if there is none.
    func oldestQuestion(on sockets: [HostSocket]) -> Duration? {
        let questions = WaitQuestions(facts: facts)
        return sockets.flatMap(scene.ends).compactMap { questions.question(by: $0) }.compactMap(\.age).max()
    }
}
