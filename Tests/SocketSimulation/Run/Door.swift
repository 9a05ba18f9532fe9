import SocketKit

/// The listener's delegate: gives each connection that is taken to a new player.
package final class Door: SocketListenerDelegate, Sendable {
    private unowned let stage: Stage

    init(stage: Stage) {
        self.stage = stage
    }

    package func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
        stage.trace("  accepted \(socket.session?.description ?? "-")")
        // Nobody keeps it: it closes.
        guard !stage.chance.oneIn(20) else { return }
        let player = stage.enroll()
        stage.ledger.begin(socket.session, owner: player.number, isAccepted: true)
        player.absorb(socket)
        if stage.isOpen, stage.chance.oneIn(2) { player.act() }
    }
}
