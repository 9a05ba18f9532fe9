/// Kept in a socket as its user's value, and acts as it dies: a setter that destroys it under a lock, or while the engine's
/// state is half changed, is found by that.
final class DyingValue: Sendable {
    private let player: Player

    init(_ player: Player) {
        self.player = player
    }

    deinit {
        player.valueDies()
    }
}
