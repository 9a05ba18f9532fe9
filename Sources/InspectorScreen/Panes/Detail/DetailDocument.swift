import InspectorCore
import SocketCore

/// Everything that is known about one connection, from top to bottom, as rows of a given width.
package struct DetailDocument {
    /// One row: a rule or text, with something at its right edge.
    package struct Row: Hashable {
        package var left: Line
        package var right = Line()
        package var isRule = false
    }

    package let rows: [Row]

    package init(_ model: Model, width: Int) {
        guard let socket = model.selected else {
            let text = model.list.selected.map { " " + model.shared.absence(of: $0) } ?? " nothing is selected"
            rows = [Row(left: Line(text, Style(.dim)))]
            return
        }
        let builder = DetailBuilder(model: model, socket: socket, width: width)
        if let host = socket.host {
            rows = builder.host(host)
            return
        }
        if let ends = socket.ends {
            let answers = builder.exchanges + builder.datagrams
            rows = builder.identity + builder.captured(ends) + builder.warnings + answers + builder.totals
            return
        }
        let queues = socket.isLive || socket.role == .listener ? builder.queues : []
        let flags = socket.isLive ? builder.flags : []
        let facts = builder.identity + builder.kernel + builder.warnings
        let talk = builder.calls + builder.exchanges + builder.datagrams + builder.webSocketBlock
        rows =
            facts + talk + queues + builder.tlsBlock + builder.minute + flags + builder.totals + builder.webSocketHeads
            + builder.engine
    }
}
