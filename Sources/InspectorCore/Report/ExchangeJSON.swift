import SocketCore
import SocketRecords

/// Questions and answers as `exchange` lines: one for each that is over, in order. One is over when the next begins, and
/// the last when its connection or the run ends.
struct ExchangeLines: Sendable {
    private var known: [SocketID: Known] = [:]

    private struct Known: Sendable {
        /// The latest exchange, which may go on if `isOpen`.
        var last: Exchange?
        var isOpen = false
        var isAskedByPeer = false
    }

    /// Returns the members of each line for a session's traffic.
    mutating func absorb(_ traffic: TrafficSnapshot, of socket: SocketSnapshot, _ json: SocketJSON) -> [[JSON.Member]] {
        guard let facts = socket.exchanges else {
            known[socket.id] = nil
            return []
        }
        var seen = known[socket.id] ?? Known()
        let read = Exchange.read(traffic, client: socket.clientDirection, isJoined: socket.connected == nil)
        let isCut = (traffic.items.first?.sequence ?? 0) > 0
        let news = numbered(read.exchanges, after: seen.last, count: isCut ? facts.count : 0)
        let isLastOver = socket.phase == .closed && !read.overlaps
        seen.isAskedByPeer = socket.role != .client
        seen.last = news.last ?? seen.last
        seen.isOpen = !news.isEmpty && !isLastOver && !read.overlaps
        known[socket.id] = seen
        return news.dropLast(isLastOver ? 0 : 1).map { members($0, of: socket.id, seen.isAskedByPeer, json) }
    }

    /// Returns the exchanges from the latest that was told on, with their numbers. That of earlier traffic, of which only
    /// the rest was kept, is left out. `count` is how many there were in total, if earlier traffic was dropped.
    private func numbered(_ list: [Exchange], after last: Exchange?, count: UInt64) -> [Exchange] {
        var list = list.filter { !$0.isRest || $0.place == last?.place }
        let number: UInt64
        if let last, let index = list.firstIndex(where: { $0.place == last.place }) {
            list.removeFirst(index)
            number = last.number - 1
        } else {
            list.removeAll { $0.place <= last?.place ?? 0 && last != nil }
            number = max(last?.number ?? 0, count - min(count, UInt64(list.count)))
        }
        for index in list.indices { list[index].number = number + UInt64(index) + 1 }
        return list
    }

    /// Returns the members of each line for what was under way when the run ended.
    mutating func close(_ json: SocketJSON) -> [[JSON.Member]] {
        defer { known = [:] }
        return known.sorted { $0.key < $1.key }.compactMap { id, seen in
            guard seen.isOpen, let last = seen.last else { return nil }
            return members(last, of: id, seen.isAskedByPeer, json)
        }
    }

    /// Forgets the sessions that are not listed any more.
    mutating func keep(_ listed: Set<SocketID>) {
        if known.count > 2 * listed.count { known = known.filter { listed.contains($0.key) } }
    }

    private func members(
        _ exchange: Exchange, of id: SocketID, _ isAskedByPeer: Bool, _ json: SocketJSON
    ) -> [JSON.Member] {
        let ended = exchange.began + (exchange.took ?? .zero)
        return [JSON.Member("time", json.time(ended))] + json.members(.exchange((exchange, id, isAskedByPeer)))
    }
}

extension FactTeller {
    /// One question with its answer.
    static func exchange(_ told: (exchange: Exchange, id: SocketID, isAskedByPeer: Bool)?) -> FactTeller {
        let exchange = told?.exchange
        let (line, isCut) = exchange?.line ?? ([], false)
        return FactTeller { tell in
            tell.always("id", told?.id, "the session")
            tell.always(
                "number", exchange?.number,
                "its place among the requests of the session, counted from 1; numbers may be missing if requests were not kept"
            )
            tell.always(
                "asked_by", told.map { $0.isAskedByPeer ? Asker.peer : .local }, "which end sent the request",
                kind: .words(Asker.allCases.map(\.rawValue)))
            tell("began", exchange?.began, "when the first byte of the request was sent")
            tell.always("asked_bytes", exchange?.askedBytes, "the size of the request")
            tell.always("answered_bytes", exchange?.answeredBytes, "the size of the answer")
            tell(
                "first_byte_s", exchange?.firstByte, "from there to the first byte of the answer; null if there is none"
            )
            tell("took_s", exchange?.took, "from there to the last part of the answer; null if there is none")
            tell(
                "question", line.isEmpty ? nil : PayloadLines.text(line, isCut: isCut),
                "the first line of the request, or the words of its first command in RESP, at most 256 bytes; null if that is not UTF-8, or its bytes are not kept"
            )
        }
    }

    private enum Asker: String, CaseIterable, WireWord { case local, peer }
}
