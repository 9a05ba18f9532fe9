import SocketKit

/// What a user keeps in a socket, and what acts on another socket as it is destroyed.
final class Keepsake: Sendable {
    private unowned let stage: Stage
    /// Whose socket that is; a number, since players who hold each other would never go.
    private let other: Int

    init(stage: Stage, other: Int) {
        self.stage = stage
        self.other = other
    }

    deinit {
        guard stage.isOpen else { return }
        let players = stage.players
        guard other < players.count else { return }
        stage.trace("  what was kept goes")
        if stage.chance.oneIn(4) { _ = stage.pickEngine()?.snapshot() }
        players[other].act()
    }

    /// User code that prepares a descriptor, and does at times what any user code may do.
    static func acting(on stage: Stage) -> @Sendable (Int32, SocketAddress) -> Void {
        { [unowned stage] _, _ in
            guard stage.isOpen, stage.chance.oneIn(2) else { return }
            let players = stage.players
            guard !players.isEmpty else { return }
            stage.trace("  in the midst of preparing a descriptor")
            stage.chance.pick(players).act()
        }
    }
}
