import InspectorCore
import SocketCore

/// The events of the last seconds, one letter below each second of the sparklines.
struct EventMarks {
    private var marks: [EventMark?]

    /// - Parameter seconds: the number of seconds, up to now.
    init(_ model: Model, _ socket: SocketSnapshot, seconds: Int) {
        marks = Array(repeating: nil, count: max(0, seconds))
        let now = model.now
        for entry in model.log.entries(about: socket.id).reversed() {
            guard case .event(let event) = entry else { continue }
            let ago = (now.nanoseconds - event.time.nanoseconds) / 1_000_000_000
            // Events are in the order of time.
            if ago >= Int64(seconds) { break }
            guard event.socket == socket.id, ago >= 0, let mark = EventCatalogue[event.kind].mark else { continue }
            let column = seconds - 1 - Int(ago)
            marks[column] = marks[column].map { $0.joined(with: mark) } ?? mark
        }
    }

    /// Returns one row, with a legend if there is room, or no row if there are no events.
    func rows(width: Int) -> [DetailDocument.Row] {
        let present = EventMark.allCases.filter { mark in marks.contains { $0 == mark } }
        guard !present.isEmpty else { return [] }
        var line = Line(" ev ", Style(.dim))
        for mark in marks {
            line.append(mark?.letter ?? " ", Style(mark == .failure ? .warn : .plain))
        }
        let legend = Line(present.map { "\($0.letter) = \($0.meaning)" }.joined(separator: "  "), Style(.dim))
        if line.width + legend.width + 2 < width { return [DetailDocument.Row(left: line, right: legend)] }
        var below = Line("    ")
        below.append(legend)
        return [DetailDocument.Row(left: line), DetailDocument.Row(left: below)]
    }
}

extension EventMark {
    fileprivate var letter: String {
        switch self {
        case .read: "r"
        case .write: "w"
        case .both: "b"
        case .pause: "~"
        case .connect: "C"
        case .end: "F"
        case .failure: "!"
        }
    }

    fileprivate var meaning: String {
        switch self {
        case .read: "read"
        case .write: "write"
        case .both: "read and write"
        case .pause: "pause"
        case .connect: "connected"
        case .end: "FIN"
        case .failure: "failure"
        }
    }

    fileprivate func joined(with other: EventMark) -> EventMark {
        if self == .read && other == .write || self == .write && other == .read { return .both }
        return rawValue > other.rawValue ? self : other
    }
}
