import InspectorCore
import SocketCore

/// The columns while all rows are other programs' sockets, inspected from outside. The program comes first. The least
/// important columns are left out first: duration, state, descriptor.
struct HostColumns {
    typealias Column = ListColumns.Column

    var program: Column
    var descriptor: Column?
    var state: Column?
    var peer: Column
    var unread: Column
    var unsent: Column?
    var asks: Column?
    var lasting: Column?
    var container: Column?
    var namespace: Column?
    var warnings: Column

    /// - Parameter hasContainers: whether a listed program is in a container.
    /// - Parameter hasNamespaces: whether a listed socket is in another network namespace.
    init(width: Int, hasContainers: Bool = false, hasNamespaces: Bool = false) {
        // The program, its peer, the unread bytes and the warnings are always shown.
        var room = width - 1 - 11 - 10 - 8 - 2
        func reserve(_ columns: Int) -> Bool {
            guard room >= columns else { return false }
            room -= columns
            return true
        }
        let hasAsks = reserve(10)
        let hasUnsent = reserve(7)
        let hasState = reserve(7)
        let hasLasting = reserve(6)
        let hasDescriptor = reserve(5)
        let showsContainers = hasContainers && reserve(13)
        let showsNamespaces = hasNamespaces && reserve(11)
        let more = max(0, room)
        let (moreProgram, morePeer) = (more * 2 / 5, more * 2 / 5)
        var x = 1
        func place(_ columns: Int) -> Column {
            defer { x += columns + 1 }
            return Column(x: x, width: columns)
        }
        program = place(10 + moreProgram)
        if hasDescriptor { descriptor = place(4) }
        if hasState { state = place(6) }
        peer = place(9 + morePeer + (hasAsks ? 0 : more - moreProgram - morePeer))
        unread = place(7)
        if hasUnsent { unsent = place(6) }
        if hasAsks { asks = place(9 + more - moreProgram - morePeer) }
        if hasLasting { lasting = place(5) }
        if showsContainers { container = place(12) }
        if showsNamespaces { namespace = place(10) }
        warnings = Column(x: width - 2, width: 2)
    }
}

extension ListView {
    /// Draws the heading and the rows of sockets inspected from outside.
    static func drawHost(_ model: Model, _ snapshot: EngineSnapshot, _ rect: Rect, on canvas: inout Canvas) {
        let rows = model.list.rows.dropFirst(model.list.top).prefix(max(0, rect.height - 1))
        let hosts = rows.compactMap { snapshot.socket($0)?.host }
        let columns = HostColumns(
            width: rect.width, hasContainers: hosts.contains { $0.container != nil },
            hasNamespaces: hosts.contains { $0.namespace?.ordinal ?? 0 != 0 })
        let heading = Style(.heading)
        func put(_ column: HostColumns.Column?, _ title: String, right: Bool = false) {
            guard let column else { return }
            canvas.draw(
                Line(Format.padded(title, to: column.width, right: right), heading), x: rect.x + column.x, y: rect.y,
                width: column.width, model.glyphs)
        }
        put(columns.program, "PROGRAM")
        put(columns.descriptor, "FD", right: true)
        put(columns.state, "STATE")
        put(columns.peer, "PEER")
        put(columns.unread, "UNREAD", right: true)
        put(columns.unsent, "UNSENT", right: true)
        put(columns.asks, "ASKS")
        put(columns.lasting, "FOR", right: true)
        put(columns.container, "CONTAINER")
        put(columns.namespace, "NETNS")
        put(columns.warnings, "!")
        let body = rect.trimmed(top: 1)
        for (index, id) in model.list.rows.dropFirst(model.list.top).prefix(body.height).enumerated() {
            guard let socket = snapshot.socket(id), let host = socket.host else { continue }
            HostRow(model: model, socket: socket, host: host, columns: columns).draw(index, in: body, on: &canvas)
        }
        guard model.list.rows.isEmpty else { return }
        canvas.draw(Line("  no socket matches the filter", Style(.dim)), row: 1, in: body, model.glyphs)
    }
}

/// One socket inspected from outside.
struct HostRow {
    let model: Model
    let socket: SocketSnapshot
    let host: HostSnapshot
    let columns: HostColumns

    func draw(_ row: Int, in rect: Rect, on canvas: inout Canvas) {
        let isSelected = model.list.selected == socket.id
        func put(_ column: HostColumns.Column?, _ line: Line) {
            guard let column else { return }
            canvas.draw(line, x: rect.x + column.x, y: rect.y + row, width: column.width, model.glyphs)
        }
        func right(_ column: HostColumns.Column?, _ text: String?, _ role: Role = .plain) {
            guard let column else { return }
            put(
                column,
                Line(Format.padded(text ?? "-", to: column.width, right: true), Style(text == nil ? .dim : role)))
        }
        canvas.draw(
            Line(isSelected ? ">" : " ", Style(isSelected ? .cursor : .plain)), row: row, in: rect, model.glyphs)
        let searched = Style(.plain, model.list.isSearched(socket, in: model.shared) ? [.bold, .underline] : [])
        put(columns.program, safe(host.programText, host.program == nil ? Style(.dim) : searched))
        right(columns.descriptor, socket.descriptor.map(String.init), .dim)
        put(columns.state, Line(String(socket.stateWord.filter { $0 != "-" }.prefix(6)), Style(.plain)))
        put(columns.peer, peer)
        right(columns.unread, host.unreadText, host.isCrowded ? .warn : .received)
        right(columns.unsent, host.unsentText, .sent)
        put(columns.asks, safe(host.asks ?? "-", Style(host.asks == nil ? .dim : .plain)))
        right(columns.lasting, host.asksFor.map { Format.duration($0) }, .dim)
        put(columns.container, safe(host.container ?? "-", Style(.dim)))
        put(columns.namespace, safe(host.namespace?.label ?? "-", Style(.dim)))
        let found = model.shared.findings[socket.id].filter { $0.severity > .note }
        if found.contains(where: { $0.severity == .critical }) {
            put(columns.warnings, Line("!!", Style(.bad, [.bold])))
        } else if !found.isEmpty {
            put(columns.warnings, Line("!\(min(9, found.count))", Style(.warn, [.bold])))
        }
        guard isSelected else { return }
        canvas.restyle(row: row, in: rect) { Style($0.role == .plain ? .cursor : $0.role, [.reverse]) }
    }

    /// The program at the other end if it is on this host, and otherwise the address.
    private var peer: Line {
        if let program = host.peerProgram { return safe(program, Style(.plain)) }
        return Shorten.address(socket.peerText, to: columns.peer.width, Style(.plain), model)
    }

    private func safe(_ text: String, _ style: Style) -> Line {
        var line = Line()
        model.sanitizer.append(text, style, to: &line)
        return line
    }
}

extension Shared {
    /// Whether everything listed belongs to other programs and is inspected from outside.
    package var showsHost: Bool { !programs.isEmpty && programs.allSatisfy(\.isOutside) }
}
