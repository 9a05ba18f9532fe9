import InspectorCore
import SocketCore

/// Hosts instead of sockets: the state of each one's connection, and what came through it.
enum HostsView {
    private struct Column: Sendable {
        var title: String
        var width: Int
        var text: @Sendable (HostStatus) -> String?
    }

    private static let columns: [Column] = [
        Column(title: "SOCKETS", width: 7) { "\($0.sockets)" },
        Column(title: "LOSSES", width: 6) { "\($0.losses)" },
        Column(title: "LOOK", width: 5) { $0.age.map { "\($0)s" } },
        Column(title: "CLOCK", width: 6) { host in
            host.distance.map { ($0 < .zero ? "-" : "+") + Format.duration($0 < .zero ? .zero - $0 : $0) }
        },
        Column(title: "BYTES", width: 5) { Format.bytes($0.bytes) },
        Column(title: "AGENT", width: 9) { $0.version.map { String($0.prefix(9)) } },
    ]
    private static let state = 10
    private static let leastName = 12

    static func draw(_ hosts: HostsPane, _ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        let width = rect.width - (rect.width < canvas.size.width ? 1 : 0)
        var room = width - 2 - leastName - state
        let shown = columns.prefix { column in
            room -= column.width + 1
            return room >= 0
        }
        let left = width - 2 - leastName - state - shown.reduce(0) { $0 + $1.width + 1 }
        let name = leastName + min(left / 3, 12)
        let inner = rect.left(width)
        var heading = Line(
            " " + Format.padded("HOST", to: name) + " " + Format.padded("STATE", to: state), Style(.heading))
        for column in shown {
            heading.append(" " + Format.padded(column.title, to: column.width, right: true), Style(.heading))
        }
        if left > 12 { heading.append(" LAST LINE", Style(.heading)) }
        canvas.draw(heading, row: 0, in: inner, model.glyphs)
        let body = inner.trimmed(top: 1)
        for (index, host) in model.shared.hosts.enumerated().dropFirst(hosts.top).prefix(body.height) {
            let isSelected = index == hosts.cursor
            var line = Line(isSelected ? ">" : " ", Style(isSelected ? .cursor : .plain))
            line.append(cell(host.name, name, .plain, model))
            line.append(" ")
            line.append(cell(host.word, state, role(host), model))
            for column in shown {
                let text = model.sanitizer.text(column.text(host) ?? "-")
                line.append(" " + Format.padded(text, to: column.width, right: true), Style(.dim))
            }
            line.append(" ")
            model.sanitizer.append(host.said ?? "", Style(.dim), to: &line)
            canvas.draw(line, row: index - hosts.top, in: body, model.glyphs)
            guard isSelected else { continue }
            canvas.restyle(row: index - hosts.top, in: body) {
                Style($0.role == .plain ? .cursor : $0.role, [.reverse])
            }
        }
    }

    private static func cell(_ text: String, _ width: Int, _ role: Role, _ model: Model) -> Line {
        var line = Line()
        model.sanitizer.append(text, Style(role), to: &line)
        line = line.clipped(to: width, model.glyphs)
        line.pad(to: width)
        return line
    }

    static func role(_ host: HostStatus) -> Role {
        switch host.state {
        case .live: .lit
        case .connecting: .dim
        case .late: .warn
        case .lost: .bad
        }
    }
}
