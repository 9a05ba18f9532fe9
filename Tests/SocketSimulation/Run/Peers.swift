import SocketKit

/// The simulated peers: they hold the ends that are not the engine's, and do what peers do.
struct Peers {
    private let stage: Stage

    init(stage: Stage) {
        self.stage = stage
    }

    /// Does one thing at one end, or connects to the engine's listener.
    func act() {
        guard !stage.chance.oneIn(16) else { return connectToListener() }
        stage.kernel.network.withLock { network in
            let open = network.links.indices.filter { network.links[$0].isOpenToPeer }
            guard !open.isEmpty else { return }
            let index = stage.chance.pick(open)
            act(on: &network.links[index], index)
            network.events += 1
        }
    }

    private func act(on link: inout Link, _ index: Int) {
        guard let end = link.peerEnd else { return }
        switch stage.chance.below(40) {
        case 0..<18:
            guard !link.directions[end].isEnded else { return }
            let count = min(stage.chance.within(1...300), link.directions[end].room)
            link.directions[end].send(stage.chance.bytes(count))
            stage.trace("peer of link \(index) sends \(count)")
        case 18..<36:
            let count = min(stage.chance.within(1...2_000), link.directions[1 - end].unread)
            link.directions[1 - end].take(count)
            stage.trace("peer of link \(index) takes \(count)")
        case 36, 37:
            link.directions[end].end()
            link.ends[end].isWriteShut = true
            stage.trace("peer of link \(index) sends FIN")
        default:
            let resets = stage.chance.oneIn(2)
            link.close(end, resets: resets)
            stage.trace("peer of link \(index) closes\(resets ? " with RST" : "")")
        }
    }

    private func connectToListener() {
        stage.kernel.network.withLock { network in
            guard let listener = network.listener(on: Simulation.port),
                let link = network.enter(listener, peerEnd: 0)
            else { return }
            stage.trace("a peer connects: link \(link)")
        }
    }

    /// Everybody takes what came, says no more, and lets the connection end.
    func takeLeave() {
        stage.kernel.network.withLock { network in
            for index in network.links.indices where network.links[index].isOpenToPeer {
                guard let end = network.links[index].peerEnd else { continue }
                network.links[index].directions[1 - end].take(network.links[index].directions[1 - end].unread)
                network.links[index].directions[end].end()
                network.links[index].ends[end].isWriteShut = true
            }
        }
    }
}

extension Link {
    /// Whether a peer holds an end of it that still lives.
    fileprivate var isOpenToPeer: Bool {
        peerEnd.map { !ends[$0].isClosed && !ends[$0].isReset } ?? false
    }
}
