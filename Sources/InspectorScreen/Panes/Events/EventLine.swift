import InspectorCore
import SocketCore

/// An entry of the event log as one row. For lack of room, times are shortened first, then the tag's column and the
/// padding are left out. The event itself is kept.
struct EventLine {
    private let width: Int

    init(width: Int) { self.width = width }

    private enum Room { case wide, medium, narrow }

    private var room: Room { width >= 76 ? .wide : width >= 56 ? .medium : .narrow }

    /// The width of the time: to the microsecond, the millisecond or the second.
    private var timeWidth: Int {
        switch room {
        case .wide: 15
        case .medium: 12
        case .narrow: 8
        }
    }

    private var connectionWidth: Int { room == .wide ? 6 : 4 }

    var heading: String {
        let start = " TIME" + Format.padded("", to: timeWidth - 4) + " " + Format.padded("CONN", to: connectionWidth)
        switch room {
        case .wide: return start + " KIND           TAG  DETAIL"
        case .medium: return start + " KIND           TAG, DETAIL"
        case .narrow: return start + " KIND, TAG, DETAIL"
        }
    }

    func line(_ entry: EventLog.Entry, _ model: Model) -> Line {
        switch entry {
        case .lost(let count, let next):
            return Line(
                " -- lost \(count) --   overwritten before they were read: \(next - count)..\(next - 1)", Style(.warn))
        case .note(let text, let time, _):
            var line = begin(time, "-", model)
            line.append(
                room == .wide ? "socktui        -    " : room == .medium ? "socktui        " : "socktui ",
                Style(.heading))
            model.sanitizer.append(text, Style(.plain), to: &line)
            return line
        case .event(let event): return self.line(event, model)
        }
    }

    /// Returns the entry in as many rows as it needs, for the event at the cursor.
    func rows(_ entry: EventLog.Entry, _ model: Model) -> [Line] {
        line(entry, model).hanging(width: width, indent: room == .wide ? 24 : room == .medium ? 18 : 10)
    }

    /// Returns the event's text after its kind.
    private static func detail(_ event: SocketEvent, _ model: Model) -> String {
        EventWords.detail(event, of: model.shared.socket(of: event), answer: model.answerKey)
    }

    private func begin(_ time: MonotonicTime, _ connection: String, _ model: Model) -> Line {
        var line = Line(" " + model.shownClock.text(time).prefix(timeWidth) + " ", Style(.dim))
        line.append(Format.padded(connection, to: connectionWidth) + " ", Style(.heading))
        return line
    }

    private func line(_ event: SocketEvent, _ model: Model) -> Line {
        let row = EventCatalogue[event.kind]
        let isMatch = model.events.isMatch(event, in: model.shared)
        let label = EventWords.label(event, of: model.shared.socket(of: event))
        let plain = Style(label.isWarning ? .warn : .plain, isMatch ? [.bold, .underline] : [])
        var line = begin(event.time, event.socket.description, model)
        line.append(room == .narrow ? label.text + " " : Format.padded(label.text, to: 14) + " ", plain)
        let hasTag = event.tag != 0 || row.hasTag
        if room == .wide {
            line.append(Format.padded(hasTag ? "t\(event.tag)" : "-", to: 4) + " ", Style(hasTag ? .plain : .dim))
        } else if hasTag {
            line.append("t\(event.tag) ")
        }
        model.sanitizer.append(Self.detail(event, model), plain, to: &line)
        return line
    }
}
