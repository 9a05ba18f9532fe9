import InspectorCore
import SocketCore

/// Builds the rows of the detail.
struct DetailBuilder {
    typealias Row = DetailDocument.Row

    let model: Model
    let socket: SocketSnapshot
    let width: Int

    func safe(_ text: String, _ role: Role = .plain) -> Line {
        var line = Line()
        model.sanitizer.append(text, Style(role), to: &line)
        return line
    }

    func rule(_ title: String, right: String = "") -> Row {
        Row(left: Line(title, Style(.heading)), right: Line(right, Style(.dim)), isRule: true)
    }

    /// Joins words to as few rows as possible. A word longer than a row continues in the next one.
    func wrapped(_ words: [Line], separator: String, indent: Int = 1) -> [Row] {
        Wrapping.rows(words, separator: separator, indent: indent, width: width - 1).map { Row(left: $0) }
    }

    /// Returns rows with a mark in the indent of the first one.
    func marked(_ mark: Line, _ rows: [Row]) -> [Row] {
        guard let first = rows.first else { return rows }
        var rows = rows
        rows[0].left = mark
        rows[0].left.append(first.left.columns(mark.width..<first.left.width))
        return rows
    }

    var identity: [Row] {
        var rows = wrapped(who, separator: "   ")
        if let closed = socket.closed {
            rows += wrapped(
                [
                    Line("closed \(model.shownClock.text(closed.time))", Style(.closed)),
                    safe(socket.ending ?? "", .closed),
                ], separator: "  ")
        }
        rows += wrapped(ConnectWords.steps(socket).map { safe($0) }, separator: ", ")
        return rows + faults
    }

    /// The effects of rules and breakpoints on the connection.
    private var faults: [Row] {
        guard let fault = socket.fault else { return [] }
        var words = fault.rules.map { safe("fault \($0.number) \($0.text) x\($0.count)", .warn) }
        let notes = FaultWords.notes(fault)
        if !notes.isEmpty { words.append(safe(notes, .warn)) }
        if let hold = fault.hold {
            words.append(safe("HELD \(FaultWords.held(hold, now: model.now))", .warn))
            words.append(safe(FaultWords.waiting(hold), .warn))
        }
        return wrapped(words, separator: "   ") + (fault.hold.map(heldRows) ?? [])
    }

    /// Returns the next bytes that a breakpoint holds, and how to release them.
    private func heldRows(_ hold: FaultSnapshot.Hold) -> [Row] {
        var rows = [(">", hold.upstreamBytes, hold.upstreamNext), ("<", hold.downstreamBytes, hold.downstreamNext)]
            .compactMap { FaultWords.next($0.0, $0.1, $0.2, width: width - 8) }
            .map { text in
                var line = Line(" HELD ", Style(.warn, [.bold]))
                line.append(safe(text))
                return Row(left: line)
            }
        guard model.shared.isOurs(socket.id) else { return rows }
        let words = model.naming("{break} or :release continues it").split(separator: " ")
        rows += wrapped(words.map { Line(String($0), Style(.dim)) }, separator: " ")
        return rows
    }

    /// The local address and the peer's, each in full.
    private var ends: [Line] {
        var first = Line("\(socket.id) \(socket.role.rawValue) ", Style(.heading))
        guard socket.role != .listener else {
            first.append(safe(socket.local?.description ?? socket.target))
            return [first]
        }
        let peer = safe(socket.peer?.description ?? (socket.role == .datagram ? "any" : socket.target))
        guard let local = socket.local else {
            first.append(peer)
            return [first]
        }
        first.append(safe(local.description))
        var second = Line("> ")
        second.append(peer)
        guard first.width + second.width + 3 <= width else { return [first, second] }
        first.append(" ")
        first.append(second)
        return [first]
    }

    private var who: [Line] {
        var words = ends
        if !socket.target.isEmpty && socket.role == .client && socket.target != socket.peer?.description
            && socket.peer != nil
        {
            words.append(safe("target \(socket.target)", .dim))
        }
        if !socket.name.isEmpty { words.append(safe("name \(socket.name)")) }
        if let linked = socket.linked {
            let other = model.shown?.socket(linked)?.peerText
            words.append(safe("relayed to \(linked)\(other.map { " " + $0 } ?? "")"))
            if socket.relay?.isOtherGone == true, socket.isLive { words.append(Line("which is gone", Style(.warn))) }
            if socket.relay?.isHeadRewritten == true { words.append(Line("head rewritten", Style(.warn))) }
            if let lost = socket.lossWords, socket.isLive { words.append(Line(lost, Style(.warn))) }
        }
        if let program = model.shared.peers[socket.id]?.program {
            words.append(safe("peer \(program.title) fd \(program.descriptor)"))
        }
        if let parent = socket.parent { words.append(Line("by \(parent)", Style(.dim))) }
        if socket.isLive {
            let isTrying = socket.phase == .resolving || socket.phase == .connecting
            let since = socket.connected ?? socket.opened
            words.append(
                Line(isTrying ? "for \(Format.duration(model.now - since))" : "up \(Format.age(model.now - since))"))
        }
        if let descriptor = socket.descriptor { words.append(Line("fd \(descriptor)")) }
        return words
    }

    var flags: [Row] {
        if let facts = socket.datagrams { return datagramFlags(facts) }
        let lit = FlagWords.lit(socket.flags)
        let reasons = FlagWords.reasons(socket, model.now)
        guard !reasons.isEmpty else { return [] }
        var rows = [rule("flags \(FlagWords.word(socket.flags))  \(lit.count) of \(SocketFlags.names.count) set")]
        for (name, reason) in reasons {
            var words = [Line(name + ":", Style(.lit))]
            words += reason.split(separator: " ").map { Line($0, Style(.dim)) }
            rows += wrapped(words, separator: " ")
        }
        return rows
    }

    /// Every warning about the session, with its remedy.
    var warnings: [Row] {
        let found = model.shared.findings[socket.id]
        guard !found.isEmpty else { return quiet }
        var rows = [rule("warnings \(found.count)")]
        for finding in found {
            var words = [Line(finding.lint, finding.severity == .note ? Style(.heading) : Style(.warn, [.bold]))]
            words += finding.sentence.split(separator: " ").map { safe(String($0)) }
            if let remedy = socket.host == nil ? finding.remedy : finding.hostRemedy {
                words.append(Line("-", Style(.dim)))
                words += model.naming(remedy).split(separator: " ").map { Line($0, Style(.dim)) }
            }
            rows += marked(finding.severity.mark, wrapped(words, separator: " ", indent: 3))
            guard let next = finding.next else { continue }
            rows += wrapped([Line("Next:", Style(.dim)), safe(next)], separator: " ", indent: 3)
        }
        return rows
    }

    /// A row that says that the connection is quiet, for connections that seem to hang.
    private var quiet: [Row] {
        guard let snapshot = model.shown else { return [] }
        let situation = model.shared.findings.situation(socket, in: snapshot, model.shared.peers)
        guard let sentence = situation.quiet(last: model.traffic.shown(in: model.shared).items.last { $0.done > 0 })
        else { return [] }
        return wrapped(sentence.split(separator: " ").map { safe(String($0), .dim) }, separator: " ")
    }
}
