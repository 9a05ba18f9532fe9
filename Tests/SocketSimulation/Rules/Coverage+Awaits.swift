/// How often each kind of `await` came to each end.
extension Coverage {
    /// All pairs of an `await` and its end that can be.
    package static let possibleAwaits: [(kind: Awaits.Kind, event: Awaits.Event)] = Awaits.Kind.allCases.flatMap {
        kind in
        Awaits.Event.allCases.filter { kind.canSee($0) }.map { (kind, $0) }
    }

    /// The pairs that can be and were not seen.
    package var missingAwaits: [String] {
        Self.possibleAwaits.filter { count($0.kind, $0.event) == 0 }.map { "\($0.kind) x \($0.event)" }
    }

    /// The pairs that were seen least.
    package func rarestAwaits(_ most: Int) -> [(name: String, count: Int)] {
        let all = Self.possibleAwaits.map { (name: "\($0.kind) x \($0.event)", count: count($0.kind, $0.event)) }
        return Array(all.sorted { $0.count < $1.count }.prefix(most))
    }
}

extension Awaits.Kind {
    /// Whether it can come to such an end at all.
    fileprivate func canSee(_ event: Awaits.Event) -> Bool {
        switch self {
        // What comes in ends in order, unless the kernel refuses to watch it again.
        case .accept, .acceptWebSocket, .receiveDatagram: event != .failed
        // It has no error to give.
        case .finish: event != .failed
        case .connect, .connectSecurely, .secure, .read, .write, .room, .openWebSocket, .sendMessage, .receiveMessage,
            .ping, .webSocketRoom, .sendDatagram:
            true
        }
    }
}
