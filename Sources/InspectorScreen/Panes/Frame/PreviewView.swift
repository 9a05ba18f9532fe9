import InspectorCore
import SocketCore

/// Below the list: the selected connection's queues and its last minute, and the newest traffic if there is room.
package enum PreviewView {
    package static func draw(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        guard rect.height > 0 else { return }
        guard let socket = model.selected else {
            canvas.rule(row: 0, in: rect, title: Line(), model.glyphs)
            return
        }
        let below =
            model.list.found != nil || model.list.programs != nil || model.list.hosts != nil
            ? 0 : model.list.rows.count - model.list.top - model.layout(canvas.size, model.tab).listRows
        let keys = model.naming("{open} open, {detail} detail")
        let more = below > 0 ? "\(Format.count(below, "more row")) below" : ""
        let title = title(model, socket)
        let texts = [below > 0 ? "\(more)   \(keys)" : keys, keys, model.naming("{open} open")]
        let hint = Shorten.fitting(texts, in: rect.width - title.width - 8)
        canvas.rule(row: 0, in: rect, title: title, right: Line(hint, Style(.dim)), model.glyphs)
        let queues = QueueLines(model, socket, width: rect.width)
        queues.draw(in: rect.trimmed(top: 1), on: &canvas)
        let last = 1 + max(3, queues.rows.count)
        canvas.draw(sparklines(model, socket, width: rect.width), row: last, in: rect, model.glyphs)
        let tail = rect.trimmed(top: last + 1)
        guard tail.height > 1, socket.role != .listener else { return }
        canvas.rule(row: 0, in: tail, title: Line("traffic", Style(.heading)), model.glyphs)
        TrafficView.drawTail(model, tail.trimmed(top: 1), on: &canvas)
    }

    private static func title(_ model: Model, _ socket: SocketSnapshot) -> Line {
        var line = Line("\(socket.id)", Style(.heading))
        if let program = model.program(of: socket.id) {
            model.sanitizer.append(" of \(program.title)", Style(.dim), to: &line)
        }
        if let linked = socket.linked {
            line.append(" relayed to \(linked) ", Style(.dim))
            model.sanitizer.append(model.shown?.socket(linked)?.peerText ?? "", Style(.dim), to: &line)
        }
        return line
    }

    private static func sparklines(_ model: Model, _ socket: SocketSnapshot, width: Int) -> Line {
        guard socket.role != .listener, let series = model.shared.histories[socket.id] else { return Line() }
        let room = max(0, min(RateHistories.seconds, (width - 12) / 2))
        let (received, sent) = CapturedWords.ways(socket)
        var line = Line(" \(received) ", Style(.dim))
        line.append(model.glyphs.sparkline(series.received, width: room), Style(.received))
        line.pad(to: 2 + received.count + room + 3)
        line.append("\(sent) ", Style(.dim))
        line.append(model.glyphs.sparkline(series.sent, width: room), Style(.sent))
        return line
    }
}
