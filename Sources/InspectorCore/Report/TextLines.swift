import SocketCore

/// What an engine does, as plain text: the rows of the events' screen, one a line, for a pipe or a file.
package struct TextLines: Sendable {
    private var model = Model(options: Model.Options(ascii: false, version: ""))
    private var next = 0

    package init() {}

    /// The sequence number of the event to ask for next.
    package var nextEvent: UInt64 { model.log.next }

    /// The lines that a snapshot brings, without line ends.
    package mutating func take(_ snapshot: EngineSnapshot) -> [String] {
        _ = model.update(.snapshot(snapshot))
        defer { next = model.log.end }
        let first = max(next, model.log.first)
        return (first..<max(first, model.log.end)).compactMap { number in
            model.log[number].map { Self.trimmed(EventLine(width: 100).line($0, model).text.dropFirst()) }
        }
    }

    /// The list of sessions, as `ss` prints one.
    package static func table(_ snapshot: EngineSnapshot) -> [String] {
        var model = Model(options: Model.Options(ascii: false, version: ""))
        // Whatever was gone to, this is what is shown.
        var snapshot = snapshot
        snapshot.turn = model.turn
        // One column less than where the list gets company.
        let chrome = ScreenLayout.least.height
        _ = model.update(.resized(Size(ScreenLayout.compositeWidth - 1, snapshot.sockets.count + chrome)))
        if snapshot.sockets.allSatisfy({ $0.host != nil }) {
            let host = ProgramInfo(outside: snapshot.engine, process: 0, ordinal: 0)
            _ = model.update(.programs(ProgramNews(programs: [host])))
        }
        if !snapshot.sockets.isEmpty, snapshot.sockets.allSatisfy({ $0.ends != nil }) {
            var capture = ProgramInfo(ordinal: 0, name: snapshot.engine, process: 0)
            capture.dropped = 0
            _ = model.update(.programs(ProgramNews(programs: [capture])))
        }
        _ = model.update(.snapshot(snapshot))
        model.show(.list)
        let rows = draw(model, model.size).text.split(separator: "\n", omittingEmptySubsequences: false)
        let list = model.layout(model.size, .list).list
        return rows.dropFirst(list.y).prefix(min(list.height, snapshot.sockets.count + 1)).map {
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
