import SocketCore

/// A search through the payloads of many connections.
package struct FindRequest: Hashable, Sendable {
    /// Distinguishes its results from those of an earlier search.
    package var number: Int
    package var search: PayloadSearch
    package var sockets: [SocketID]

    package init(number: Int, search: PayloadSearch, sockets: [SocketID]) {
        (self.number, self.search, self.sockets) = (number, search, sockets)
    }
}

/// A match in the payload of a connection.
package struct FoundMatch: Hashable, Sendable {
    package var socket: SocketID
    package var item: UInt64
    /// The offset in the message at which it begins.
    package var offset: Int
    package var time: MonotonicTime
    package var direction: TrafficItem.Direction
    /// The bytes around the match. `matched` is its range among them.
    package var excerpt: [UInt8]
    package var matched: Range<Int>

    package init(
        socket: SocketID, item: UInt64, offset: Int, time: MonotonicTime, direction: TrafficItem.Direction,
        excerpt: [UInt8], matched: Range<Int>
    ) {
        (self.socket, self.item, self.offset, self.time) = (socket, item, offset, time)
        (self.direction, self.excerpt, self.matched) = (direction, excerpt, matched)
    }
}

/// The progress of a search, and the matches since the last report.
package struct FindProgress: Hashable, Sendable {
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
            for offset in search.matches(in: item) {
                count += 1
                guard count <= Self.limit else { continue }
                matches.append(Self.match(item, at: offset, length: search.bytes.count, of: socket))
            }
        }
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

/// The results of `:find`, which replace the rows.
package struct FoundPane: Hashable, Sendable {
    package let request: FindRequest
    package private(set) var progress: FindProgress
    package private(set) var matches: [FoundMatch] = []
    /// The index of the result with the cursor.
    package private(set) var cursor = 0
    /// The first visible result.
    package private(set) var top = 0

    init(_ request: FindRequest) {
        self.request = request
        progress = FindProgress(number: request.number)
    }

    /// The result with the cursor, or `nil` if there is none.
    package var current: FoundMatch? { matches.indices.contains(cursor) ? matches[cursor] : nil }

    /// Adds matches, unless they are from another search.
    mutating func take(_ news: FindProgress) {
        guard news.number == request.number else { return }
        matches += news.matches
        progress = news
        progress.matches = []
    }

    mutating func move(_ step: Int) { cursor = min(max(0, cursor + step), max(0, matches.count - 1)) }

    mutating func keepInSight(height: Int) {
        top = min(top, cursor)
        top = max(top, cursor - max(1, height) + 1)
        top = min(max(0, top), max(0, matches.count - max(1, height)))
    }

    /// `37 matches in 12 of 2000 connections; not kept: 3 older items`
    package var words: String {
        let connections = Set(matches.map(\.socket)).count
        let all = request.sockets.count
        var text = "\(progress.count) match" + (progress.count == 1 ? "" : "es")
        let done = progress.searched + progress.unknown
        if progress.isOver {
            text += " in " + (progress.count > 0 ? "\(connections) of " : "")
            text += Format.count(progress.searched, "connection")
        } else if progress.count > 0 {
            text += " in " + Format.count(connections, "connection")
        }
        if progress.count > matches.count { text += ", the first \(matches.count) listed" }
        if !progress.isOver { text += "; searching, \(all == 0 ? 100 : done * 100 / all)%" }
        if progress.unknown > 0 { text += "; \(progress.unknown) of other programs not searched" }
        var missing: [String] = []
        if progress.droppedItems > 0 {
            missing.append(Format.count(Int(clamping: progress.droppedItems), "older item"))
        }
        if progress.missingBytes > 0 { missing.append(Format.size(progress.missingBytes)) }
        return missing.isEmpty ? text : text + "; not kept: " + missing.joined(separator: ", ")
    }
}
