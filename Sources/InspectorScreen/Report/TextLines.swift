import InspectorCore
import SocketCore

/// An engine's activity as plain text: the rows of the events screen, one per line, for a pipe or a file.
package struct TextLines: Sendable {
    private var model = Model(options: Model.Options(ascii: false, version: ""))
    private var next = 0
    /// Of sockets that are seen from outside, those that were listed, and whether as closed.
    private var listed: [SocketID: Bool] = [:]

    package init() {}

    /// The sequence number of the next event to request.
    package var nextEvent: UInt64 { model.log.next }

    /// The total number of events lost, those that one snapshot had too many of included.
    package var lost: UInt64 { model.log.lost.saturatingAdd(skipped) }
    private var skipped: UInt64 = 0

    /// Returns the lines for a snapshot, without line endings.
    package mutating func absorb(_ snapshot: EngineSnapshot) -> [String] {
        if snapshot.sockets.contains(where: { $0.host != nil }) { return absorbHost(snapshot) }
        _ = model.update(.answer(Answer(snapshot)))
        defer { next = model.log.end }
        let first = max(next, model.log.first)
        skipped.saturate(adding: UInt64(first - next))
        return (first..<max(first, model.log.end)).compactMap { number in
            model.log[number].map { Self.trimmed(EventLine(width: 100).line($0, model).text.dropFirst()) }
        }
    }

    /// The kernel reports no events of other programs' sockets, so their rows are printed: first all of them, then each
    /// that is new or has closed.
    private mutating func absorbHost(_ snapshot: EngineSnapshot) -> [String] {
        let isFirst = listed.isEmpty
        var changed = snapshot
        changed.sockets = snapshot.sockets.filter { listed[$0.id] != ($0.phase == .closed) }
        listed = [:]
        for socket in snapshot.sockets { listed[socket.id] = socket.phase == .closed }
        guard !changed.sockets.isEmpty else { return [] }
        return Array(Self.table(changed).dropFirst(isFirst ? 0 : 1))
    }

    /// Returns the list of sessions, in the style of `ss`.
    package static func table(_ snapshot: EngineSnapshot) -> [String] {
        var options = Model.Options(ascii: false, version: "")
        options.foldsWaiting = false
        var model = Model(options: options)
        // The snapshot is shown whatever instant was jumped to.
        var snapshot = snapshot
        snapshot.jump = model.jump
        // One column below the width at which other panes join the list.
        let chrome = ScreenLayout.least.height
        _ = model.update(.resized(Size(ScreenLayout.compositeWidth - 1, snapshot.sockets.count + chrome)))
        var programs: ProgramNews?
        if snapshot.sockets.allSatisfy({ $0.host != nil }) {
            programs = ProgramNews(programs: [ProgramInfo(outside: snapshot.engine, process: 0, ordinal: 0)])
        }
        _ = model.update(.answer(Answer(snapshot, programs: programs)))
        model.show(.list)
        // Neither a preview nor the summary of warnings takes a row.
        model.isZoomed = true
        let rows = draw(model, model.size).text.split(separator: "\n", omittingEmptySubsequences: false)
        let list = model.layout(model.size, .list).list
        return rows.dropFirst(list.y).prefix(min(list.height, model.list.rows.count + 1)).map {
            Self.trimmed($0.dropFirst())
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        let bytes = text.utf8
        var end = bytes.endIndex
        while end > bytes.startIndex, bytes[bytes.index(before: end)] == 0x20 { end = bytes.index(before: end) }
        return String(text[..<end])
    }
}
