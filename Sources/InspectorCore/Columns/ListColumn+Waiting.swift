import SocketCore

/// Who waits for an answer, and how long answers take. Shown once something was asked.
extension ListColumn {
    static let waits: [ListColumn] = [
        answers("waiting", "WAIT", "how long its request has gone unanswered", rank: 2) { facts, socket, now in
            socket.isLive ? facts.unansweredSince.map { max(.zero, now - $0) } : nil
        },
        answers("answer", "ANSWER", "the median of its answer times", rank: 2) { facts, _, _ in facts.median },
        answers("worst", "WORST", "its longest answer time", rank: 5) { facts, _, _ in facts.worst },
    ]

    /// A row of a pair shows the client's leg.
    private static func answers(
        _ name: String, _ title: String, _ meaning: String, rank: Int,
        _ duration: @escaping @Sendable (ExchangeSnapshot, SocketSnapshot, MonotonicTime) -> Duration?
    ) -> ListColumn {
        let found: @Sendable (Listed, Sight) -> Duration? = { row, sight in
            row.legs.lazy.compactMap { leg in leg.exchanges.flatMap { duration($0, leg, sight.now) } }.first
        }
        return ListColumn(
            name: name, title: title, width: max(5, title.count), alignsRight: true, meaning: meaning, rank: rank,
            isRare: true, isNeeded: { row in row.legs.contains { $0.exchanges.map { $0.count > 0 } ?? false } },
            startsDescending: true, unit: .time,
            value: { row, sight in found(row, sight).map { .number($0.inSeconds) } },
            cell: { row, sight in Cell(found(row, sight).map(Format.duration) ?? "-", row.isLive ? .plain : .closed) })
    }
}
