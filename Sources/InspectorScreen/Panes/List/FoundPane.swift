import InspectorCore
import SocketCore

/// The results of `:find`, or the questions of one connection, which replace the rows.
package struct FoundPane: Equatable, Sendable {
    /// What was searched for, or `nil` if the exchanges of a connection are listed.
    package let request: FindRequest?
    package private(set) var progress: FindProgress
    package private(set) var matches: [FoundMatch] = []
    /// The index of the result with the cursor.
    package private(set) var cursor = 0
    /// The first visible result.
    package private(set) var top = 0

    /// The result at the cursor of an earlier search, until this one finds it too or the cursor moves.
    private(set) var kept: FoundMatch?

    init(_ request: FindRequest, keeping kept: FoundMatch? = nil) {
        (self.request, self.kept) = (request, kept)
        progress = FindProgress(number: request.number)
    }

    /// Whether it is drawn without what was searched for, and without words until the search is over.
    package var hidesRequest = false

    /// What was searched for, as it is drawn.
    var searched: String { hidesRequest ? "" : request?.search.text ?? "" }

    /// Lists exchanges, in the order in which they began. The cursor is on the first or the last.
    init(_ exchanges: [FoundMatch], slowestFirst: Bool) {
        request = nil
        progress = FindProgress(number: 0)
        progress.isOver = true
        isSlowestFirst = slowestFirst
        matches = exchanges
        cursor = slowestFirst ? 0 : max(0, exchanges.count - 1)
        guard slowestFirst else { return }
        func time(_ match: FoundMatch) -> Duration { match.exchange?.firstByte ?? .zero }
        // One without an answer yet is the slowest.
        matches =
            exchanges.filter { $0.exchange?.answer == nil }
            + exchanges.filter { $0.exchange?.answer != nil }.sorted { time($0) > time($1) }
    }

    /// Lists system calls in the order in which they ended, of one session or of all. The cursor is on the last.
    init(calls id: SocketID?, _ calls: [FoundMatch]) {
        (request, callsOf, listsCalls) = (nil, id, true)
        progress = FindProgress(number: 0)
        progress.isOver = true
        matches = calls
        cursor = max(0, calls.count - 1)
    }

    private var isSlowestFirst = false
    /// Whether system calls are listed, and of which session, or `nil` for all.
    private(set) var listsCalls = false
    private(set) var callsOf: SocketID?

    /// Lists system calls anew. The cursor stays on its call, or follows the last.
    mutating func refresh(_ calls: [FoundMatch]) {
        let (followsLast, chosen) = (cursor >= matches.count - 1, current?.call)
        matches = calls
        let place = matches.lastIndex { $0.call?.began == chosen?.began && $0.call?.thread == chosen?.thread }
        cursor = followsLast ? max(0, calls.count - 1) : place ?? 0
    }

    /// The result with the cursor, or `nil` if there is none.
    package var current: FoundMatch? { matches.indices.contains(cursor) ? matches[cursor] : nil }

    /// Adds matches, unless they are from another search.
    mutating func absorb(_ news: FindProgress) {
        guard news.number == request?.number else { return }
        matches += news.matches
        progress = news
        progress.matches = []
        guard let kept else { return }
        let place = matches.lastIndex { ($0.socket, $0.item, $0.offset) == (kept.socket, kept.item, kept.offset) }
        if let place { cursor = place }
        if place != nil || news.isOver { self.kept = nil }
    }

    mutating func move(_ step: Int) {
        kept = nil
        cursor = min(max(0, cursor + step), max(0, matches.count - 1))
    }

    mutating func keepInSight(height: Int) {
        top = min(top, cursor)
        top = max(top, cursor - max(1, height) + 1)
        top = min(max(0, top), max(0, matches.count - max(1, height)))
    }

    /// `37 matches in 12 of 2000 connections; not kept: 3 older items`
    package var words: String {
        guard let request else {
            if listsCalls { return Format.count(matches.count, "call") + ", latest last" }
            let order = isSlowestFirst ? "slowest first" : "latest last; :exchanges slowest sorts them"
            return Format.count(matches.count, "request") + ", " + order
        }
        guard progress.isOver || !hidesRequest else { return "" }
        let connections = Set(matches.map(\.socket)).count
        let all = request.sockets.count
        var text = "\(progress.count) match" + (progress.count == 1 ? "" : "es")
        let done = progress.searched + progress.unknown
        if progress.isOver {
            let more = progress.count > matches.count ? "+" : ""
            text += " in " + (progress.count > 0 ? "\(connections)\(more) of " : "")
            text += Format.count(progress.searched, "connection")
            if request.unlisted > 0 { text += "; \(Format.count(request.unlisted, "earlier session")) not searched" }
        } else if progress.count > 0 {
            text += " in " + Format.count(connections, "connection")
        }
        // The + says it where there is less room.
        let hasRoom = !progress.isOver || request.unlisted == 0
        if progress.count > matches.count, hasRoom { text += ", the first \(matches.count) listed" }
        if !progress.isOver { text += "; searching, \(progress.share ?? (all == 0 ? 100 : done * 100 / all))%" }
        if progress.unknown > 0 { text += "; \(progress.unknown) of other programs not searched" }
        var missing: [String] = []
        if progress.droppedItems > 0 {
            missing.append(Format.count(Int(clamping: progress.droppedItems), "older item"))
        }
        if progress.missingBytes > 0 { missing.append(Format.size(progress.missingBytes)) }
        return missing.isEmpty ? text : text + "; not kept: " + missing.joined(separator: ", ")
    }
}
