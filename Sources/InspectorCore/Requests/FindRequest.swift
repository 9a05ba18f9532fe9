import SocketCore

/// A search through the payloads of many connections.
package struct FindRequest: Equatable, Sendable {
    /// Distinguishes its results from those of an earlier search.
    package var number: Int
    package var search: PayloadSearch
    package var sockets: [SocketID]
    /// The instant that is shown, after which nothing is searched, or `nil` if that is the present or the end.
    package var until: MonotonicTime?
    /// The number of earlier sessions that are no longer listed, and not searched.
    package var unlisted = 0

    package init(number: Int, search: PayloadSearch, sockets: [SocketID]) {
        (self.number, self.search, self.sockets) = (number, search, sockets)
    }
}

/// A match in the payload of a connection.
package struct FoundMatch: Equatable, Sendable {
    package var socket: SocketID
    package var item: UInt64
    /// The offset in the message at which it begins.
    package var offset: Int
    package var time: MonotonicTime
    package var direction: TrafficItem.Direction
    /// The bytes around the match. `matched` is its range among them.
    package var excerpt: [UInt8]
    package var matched: Range<Int>
    /// The exchange that it is, in a list of them.
    package var exchange: Exchange?
    /// The system call that it is, in a list of them.
    package var call: SocketCall?

    package init(
        socket: SocketID, item: UInt64, offset: Int, time: MonotonicTime, direction: TrafficItem.Direction,
        excerpt: [UInt8], matched: Range<Int>
    ) {
        (self.socket, self.item, self.offset, self.time) = (socket, item, offset, time)
        (self.direction, self.excerpt, self.matched) = (direction, excerpt, matched)
    }

    /// An exchange of a connection whose client sends in this direction.
    package init(_ exchange: Exchange, of socket: SocketID, _ direction: TrafficItem.Direction) {
        self.init(
            socket: socket, item: exchange.place, offset: 0, time: exchange.began, direction: direction,
            excerpt: exchange.line.bytes, matched: 0..<0)
        self.exchange = exchange
    }

    /// A call of the program that is run. It has no place in the traffic.
    package init(_ call: SocketCall) {
        self.init(
            socket: call.id ?? SocketID(0), item: 0, offset: 0, time: call.began, direction: .sent, excerpt: [],
            matched: 0..<0)
        self.call = call
    }
}

/// The progress of a search, and the matches since the last report.
package struct FindProgress: Equatable, Sendable {
    package var number: Int
    /// The number of connections searched. `unknown` counts those whose payload is not known here.
    package var searched = 0
    package var unknown = 0
    package var matches: [FoundMatch] = []
    /// The total number of matches, including those beyond the limit.
    package var count = 0
    /// The traffic of the searched connections that was not kept.
    package var missingBytes: UInt64 = 0
    package var droppedItems: UInt64 = 0
    /// How much of the opened files has been searched, in percent, or `nil` if none is searched.
    package var share: Int?
    package var isOver = false

    /// The most matches that are listed.
    package static let limit = 1_000

    package init(number: Int) { self.number = number }

    /// Searches the payload of one connection.
    package mutating func search(_ traffic: TrafficSnapshot?, of socket: SocketID, for search: PayloadSearch) {
        guard let traffic else {
            unknown += 1
            return
        }
        searched += 1
        droppedItems = droppedItems.saturatingAdd(traffic.dropped)
        for item in traffic.items {
            missingBytes = missingBytes.saturatingAdd(UInt64(item.missingBytes))
            self.search(item, of: socket, for: search)
        }
    }

    /// Searches one item from an offset on. Returns the offset after the last match.
    @discardableResult
    package mutating func search(
        _ item: TrafficItem, of socket: SocketID, for search: PayloadSearch, from start: Int = 0
    ) -> Int {
        var end = start
        for offset in search.matches(in: item) where offset >= start {
            (count, end) = (count + 1, offset + search.bytes.count)
            guard count <= Self.limit else { continue }
            matches.append(Self.match(item, at: offset, length: search.bytes.count, of: socket))
        }
        return end
    }

    /// The bytes of an excerpt before a match, and after its beginning.
    private static let excerpt = (before: 24, after: 160)

    private static func match(
        _ item: TrafficItem, at offset: Int, length: Int, of socket: SocketID
    ) -> FoundMatch {
        let isInHead = offset < item.bytes.count
        let bytes = isInHead ? item.bytes : item.tail
        let place = isInHead ? offset : offset - item.done + item.tail.count
        let start = max(0, place - excerpt.before)
        let end = min(bytes.count, place + max(length, excerpt.after))
        return FoundMatch(
            socket: socket, item: item.sequence, offset: offset, time: item.time, direction: item.direction,
            excerpt: Array(bytes[start..<end]), matched: place - start..<place - start + length)
    }
}
