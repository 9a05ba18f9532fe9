import SocketKit

/// Handles that are used by tasks alone, each of which awaits one thing and may be cancelled at any time.
protocol AwaitingPlay: Sendable {
    /// Begins to await something, or closes something.
    func act()
    /// The play is over: takes out whatever can still be received.
    func drain()
    /// Holds what was received against what was sent. `isOver`: everything has been drained.
    func check(isOver: Bool)
    /// Closes every handle.
    func leave()
}

extension Stage {
    /// The awaits of this seed; `nil` in all but one of so many seeds.
    func makeAwaitingPlay(oneIn rarity: Int) -> (any AwaitingPlay)? {
        guard let engine = stations[0].engine, chance.oneIn(rarity) else { return nil }
        return switch chance.below(5) {
        case 0: StreamTasks(engine: engine, stage: self, isSecured: false)
        case 1: StreamTasks(engine: engine, stage: self, isSecured: SimulatedIdentity.server != nil)
        case 2, 3: WebSocketTasks(engine: engine, stage: self)
        default: DatagramTasks(engine: engine, stage: self)
        }
    }

    /// User code cancels a task at times, in the midst of whatever the engine does.
    func cancelAtTimes() {
        if isOpen, awaits.waiting > 0, chance.oneIn(4) { awaits.cancelOne() }
    }
}

/// What one direction of a connection carried: pieces in the order in which tasks began to send them.
struct SentPieces<Piece: Sendable>: Sendable {
    private(set) var pieces: [Piece] = []
    private var voided: Set<Int> = []
    private var uncertain: Set<Int> = []

    mutating func add(_ piece: Piece) -> Int {
        pieces.append(piece)
        return pieces.count - 1
    }

    /// It was not sent, and nothing of it arrives.
    mutating func void(_ index: Int) { voided.insert(index) }

    /// It failed: it may have arrived.
    mutating func doubt(_ index: Int) { uncertain.insert(index) }

    func isVoid(_ index: Int) -> Bool { voided.contains(index) }
    func isUncertain(_ index: Int) -> Bool { uncertain.contains(index) }

    /// Those that were sent, or that failed on the way.
    var valid: [Piece] { pieces.indices.filter { !voided.contains($0) }.map { pieces[$0] } }
}
