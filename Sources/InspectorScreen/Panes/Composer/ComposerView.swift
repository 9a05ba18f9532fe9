import InspectorCore
import SocketCore

/// The next read, and the line that is sent next.
package enum ComposerView {
    package static func draw(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        guard let socket = model.selected else {
            guard model.isComposing else {
                canvas.rule(row: 0, in: rect, title: Line(), model.glyphs)
                return
            }
            return drawField(model, rect, on: &canvas)
        }
        var rect = rect
        // A low pane has room for the line only.
        if rect.height > 2 {
            let title = Line("reading", Style(.heading))
            let reads = Line.fitting(
                [true, false].map { next(model, socket, withKey: $0) }, in: rect.width - title.width - 8)
            canvas.rule(row: 0, in: rect, title: title, right: reads, model.glyphs)
            rect = rect.trimmed(top: 1)
        }
        if let reason = model.whyNoSending, !model.isComposing {
            drawClosed(model, socket, reason, rect, on: &canvas)
        } else {
            drawField(model, rect, on: &canvas)
        }
    }

    /// `t42 length 4096, then t43 until CRLF (r to add)`
    private static func next(_ model: Model, _ socket: SocketSnapshot, withKey: Bool) -> Line {
        var line = Line()
        guard socket.isLive, socket.role != .listener else { return line }
        if let facts = socket.ownWebSocket {
            let messages = facts.subprotocol.map { "\($0) messages" } ?? "messages"
            model.sanitizer.append("\(messages), as they arrive", Style(.dim), to: &line)
            return line
        }
        let operations = [socket.reading.current].compactMap { $0 } + socket.reading.pending
        guard let first = operations.first else {
            let words = model.allowsCommands && withKey ? model.naming("nothing ({read} queues a read)") : "nothing"
            return Line(words, Style(socket.unreadBytes > 0 ? .warn : .dim))
        }
        model.sanitizer.append(words(first), to: &line)
        if operations.count > 1 { model.sanitizer.append(", then \(words(operations[1]))", to: &line) }
        let more = socket.reading.pendingCount - 1
        if more > 0 { line.append(", +\(more) more") }
        if model.allowsCommands, withKey { line.append(model.naming(" ({read} to add)"), Style(.dim)) }
        return line
    }

    private static func words(_ operation: OperationSnapshot) -> String {
        "t\(operation.tag) \(operation.kind.words)\(operation.isStanding ? " (standing)" : "")"
    }

    private static func drawClosed(
        _ model: Model, _ socket: SocketSnapshot, _ reason: String, _ rect: Rect, on canvas: inout Canvas
    ) {
        canvas.rule(row: 0, in: rect, title: mode(model), model.glyphs)
        var line = Line(" ")
        model.sanitizer.append(Shorten.clause(reason, to: rect.width - 2), Style(.closed), to: &line)
        canvas.draw(line, row: 1, in: rect, model.glyphs)
        guard !socket.isLive, socket.role == .client, model.injection == nil else { return }
        var hint = Line(model.naming("   {connect} connects again"), Style(.dim))
        let kept = model.composer.editor
        if !kept.isEmpty {
            hint.append(", with the typed text: ", Style(.dim))
            let room = max(1, rect.width - hint.width - 1)
            hint.append(kept.window(width: room, sanitizer: model.sanitizer, glyphs: model.glyphs).line)
        }
        canvas.draw(hint, row: 2, in: rect, model.glyphs)
    }

    /// Returns what the keys do: they type a line, they inject, they type a line that can't be sent, or they are
    /// commands.
    private static func mode(_ model: Model) -> Line {
        guard model.isComposing else { return Line("keys", Style(.dim)) }
        if model.shared.pastRefusal != nil { return Line(" PAST ", Style(.closed, [.reverse])) }
        if model.whyNoSending != nil { return Line(" CLOSED ", Style(.closed, [.reverse])) }
        return model.injection == nil ? Line(" WRITE ", Style(.chip)) : Line(" INJECT ", Style(.error))
    }

    private static func drawField(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        let composer = model.composer
        let mode = mode(model)
        let room = rect.width - mode.width - 8
        let right =
            rect.height > 2 || model.whyNoSending == nil
            ? Line.fitting((0...4).map { settings(composer, model, without: $0) }, in: room)
            : problem(model, width: room)
        canvas.rule(row: 0, in: rect, title: mode, right: right, model.glyphs, focused: model.isComposing)
        let columns = rect.width - 2
        var (line, cursor) = composer.editor.window(width: columns, sanitizer: model.sanitizer, glyphs: model.glyphs)
        if !model.isComposing { line = line.restyled { Style(.dim, $0.emphasis) } }
        if composer.editor.isEmpty && !model.isComposing {
            line = Line(model.naming(model.injection == nil ? "{write} writes here" : "{write} injects"), Style(.dim))
        }
        if model.isComposing { canvas.draw(Line(">", Style(.key)), row: 1, in: rect, model.glyphs) }
        canvas.draw(line, x: rect.x + 1, y: rect.y + 1, width: columns, model.glyphs)
        canvas.draw(ComposerInfo(model, width: rect.width).line, row: 2, in: rect, model.glyphs)
        if model.isComposing && rect.height > 1 && model.dialogs.open == nil && model.help == nil {
            canvas.cursor = Canvas.Position(x: rect.x + 1 + cursor, y: rect.y + 1)
        }
    }

    /// Returns why the line can't be sent, and what to do.
    static func problem(_ model: Model, width: Int) -> Line {
        guard let reason = model.whyNoSending else { return Line() }
        var line = Line()
        model.sanitizer.append(Shorten.clause(reason, to: width), Style(.warn), to: &line)
        if let socket = model.selected, !socket.isLive, socket.role == .client, model.injection == nil {
            line.append(model.naming("   {connect} connects again"), Style(.dim))
        }
        return line
    }

    /// Returns `escapes (Alt-t)   ends with CRLF (Alt-e)   tag 2`. A pace replaces the keys. `without` is how much is
    /// left out for lack of room: the tag, then keys, then words, then the key that changes the direction.
    private static func settings(_ composer: Composer, _ model: Model, without: Int) -> Line {
        guard model.isComposing || model.injection == nil else { return Line() }
        let pace = composer.pace.words
        func key(_ action: String, until most: Int = 2) -> String {
            pace == nil && model.isComposing && without < most ? model.naming(" ({\(action)})") : ""
        }
        var line = Line()
        if let injection = model.injection {
            line.append("into \(injection.id)")
            line.append(" for \(injection.receiver) ", Style(.warn))
            let room = max(8, model.size.width / 4)
            line.append(Shorten.address(injection.socket?.peerText ?? "", to: room, Style(.plain), model))
            if injection.hasDirections { line.append(key("destination", until: 4), Style(.dim)) }
            line.append("   ")
        }
        line.append(composer.mode.rawValue + key("input-mode"), Style(.dim))
        if composer.sendsMessages {
            let isText = composer.mode == .text || composer.mode == .escapes
            line.append(isText ? "   one text message" : "   one binary message", Style(.dim))
            if let pace { line.append("   \(pace)") }
            return line
        }
        switch composer.mode {
        case .text, .escapes:
            line.append(pace == nil && without < 3 ? "   ends with " : "   ", Style(.dim))
            line.append(composer.ending.rawValue)
            line.append(key("line-ending"), Style(.dim))
        case .hex, .file: break
        }
        if let socket = model.selected, socket.role == .datagram {
            let place = socket.peer.flatMap { Endpoint($0) } ?? composer.destination
            line.append("   to ", Style(.dim))
            line.append(place?.bare ?? "no destination yet", Style(place == nil ? .warn : .plain))
            if socket.peer == nil { line.append(key("destination"), Style(.dim)) }
            return line
        }
        if let pace { line.append("   \(pace)") }
        if let read = composer.readAfter { line.append("   then reads \(read.words)") }
        if without < 1 { line.append("   tag \(composer.nextTag)", Style(.dim)) }
        return line
    }
}
