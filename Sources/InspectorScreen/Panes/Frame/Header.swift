import InspectorCore
import SocketCore

/// The first two rows: the state of the engine as a whole, and the tabs.
package enum Header {
    package static func draw(_ model: Model, _ layout: ScreenLayout, on canvas: inout Canvas) {
        let isNarrow = layout.header.width < 76
        let (found, critical) = (model.shared.findings.urgent, model.shared.findings.count(.critical))
        let style = Style(critical > 0 ? .bad : .warn, [.bold])
        let warnings = found > 0 ? Line("\(critical > 0 ? "!!" : "!")\(found)", style) : Line()
        let words = (0...6).map { first(model, isNarrow: isNarrow, without: $0) }
        canvas.draw(
            left: Line.fitting(words, in: layout.header.width - 2 - warnings.width), right: warnings, row: 0,
            in: layout.header.left(layout.header.width - 1), model.glyphs)
        let tabs = tabs(model)
        let room = layout.tabs.width - tabs.width - 3
        canvas.draw(
            left: tabs, right: right(model, room: room).clipped(to: max(0, room), model.glyphs), row: 0,
            in: layout.tabs.left(layout.tabs.width - 1),
            model.glyphs)
    }

    /// `without` is how much is left out for lack of room: the rate of snapshots, then the rates, then the number of
    /// closed sockets, then the number of live ones.
    private static func first(_ model: Model, isNarrow: Bool, without: Int) -> Line {
        var line = Line(" socktui", Style(.title))
        let moment = model.shared.latest?.moment
        if without < 5 || moment?.shown == nil { append(model.shared.programs, to: &line, model) }
        line.pad(to: isNarrow ? 10 : 20)
        if let moment, let shown = moment.shown {
            appendRewound(shown, of: moment, without: without, to: &line, model)
        } else if let frozen = model.shared.frozen {
            line.append("FROZEN +\(model.log.next - min(frozen.nextEvent, model.log.next))", Style(.warn))
        } else if model.shared.latest == nil {
            line.append("waiting for the engine", Style(.dim))
            return line
        } else if let progress = model.shared.programs.compactMap(\.progress).min() {
            line.append("READING \(progress)%", Style(.warn))
        } else if let silence = model.silence {
            line.append(silence, Style(.warn))
        } else {
            line.append("LIVE", Style(.lit))
            if without < 1, let rate = model.shared.cadence.perSecond { line.append(" \(rate)Hz", Style(.dim)) }
            if without < 2, let moment, moment.isLive {
                let reach = Format.duration(.nanoseconds(moment.last - moment.first))
                line.append(" back \(reach)", moment.dropped > 0 ? Style(.warn) : Style(.dim))
            }
        }
        let lost = model.shared.droppedPackets
        if lost > 0 { line.append("  \(lost) packets lost", Style(.bad, [.bold])) }
        if let recording = model.shared.recording {
            line.append("  ")
            line.append(recording.chip, Style(recording.dropped > 0 ? .warn : .lit, [.bold]))
        }
        if let child = model.shared.child {
            line.append("  ")
            let role: Role = child.ending == nil ? .lit : child.ending == .exit(0) ? .dim : .warn
            model.sanitizer.append(child.chip, Style(role), to: &line)
        }
        if model.shared.showsHost { return host(model, line, without: without) }
        guard without < 4 else { return line }
        line.append("  \(model.hasEnded ? "open" : "live") \(model.shared.summary.live)")
        if without < 3 { line.append("  closed \(model.shared.summary.closed)", Style(.closed)) }
        guard without < 2 else { return line }
        line.append(isNarrow ? "  " : "    ")
        appendRates(model.shared, to: &line)
        return line
    }

    /// Appends the rates of all sessions. Those of a capture are named by the ends, as in its list.
    private static func appendRates(_ shared: Shared, to line: inout Line) {
        let (received, sent) = (perSecond(shared.summary.receiveRate), perSecond(shared.summary.sendRate))
        let isCaptured = shared.listKind == .captured
        let rates = isCaptured ? [("C>S", sent), ("S>C", received)] : [("rx", received), ("tx", sent)]
        line.append("\(rates[0].0) \(rates[0].1)", Style(.received))
        line.append(" ")
        line.append("\(rates[1].0) \(rates[1].1)", Style(.sent))
    }

    /// Appends `REWIND 00:12.480 / 03:00.000 x1`. For a live run it adds where the history starts, if not at the
    /// beginning.
    private static func appendRewound(
        _ shown: Int64, of moment: SnapshotMoment, without: Int, to line: inout Line, _ model: Model
    ) {
        line.append("REWIND \(InstantText.text(shown - moment.origin))", Style(.warn, [.bold]))
        if without < 6 { line.append(" / \(InstantText.text(moment.last - moment.origin))", Style(.warn)) }
        let isPlaying = model.isPlaying
        line.append(" \(model.shared.rewind?.pace ?? "x1")", isPlaying ? Style(.lit) : Style(.dim))
        guard moment.first > moment.origin, without < 4 else { return }
        let isShort = moment.dropped > 0
        line.append(" from \(InstantText.text(moment.first - moment.origin))", isShort ? Style(.warn) : Style(.dim))
    }

    /// Returns the number of sockets, and what is hidden of them.
    private static func host(_ model: Model, _ start: Line, without: Int) -> Line {
        var line = start
        let summary = model.shared.summary
        let hosts = model.shared.hosts
        if !hosts.isEmpty { append(hosts, to: &line, without: without, model) }
        line.append("  sockets \(summary.live)")
        if hosts.isEmpty || without < 3 { line.append("  listening \(summary.listening)") }
        let hidden = summary.hiddenOwners.values.reduce(0, +)
        if hidden > 0 { line.append("  owners of \(hidden) unknown", Style(.dim)) }
        return line
    }

    /// Appends each host with its state, or for lack of room how many are in which state.
    private static func append(_ hosts: [HostStatus], to line: inout Line, without: Int, _ model: Model) {
        guard without < 4 else {
            let lost = hosts.count { $0.state != .live }
            line.append("  \(Format.count(hosts.count, "host"))")
            if lost > 0 { line.append(", \(lost) not live", Style(.warn)) }
            return
        }
        for host in hosts {
            line.append("  ")
            let words = without < 2 ? host.words : without < 3 ? host.shortWords : "\(host.name) \(host.word)"
            var text = Line()
            model.sanitizer.append(words, Style(HostsView.role(host)), to: &text)
            line.append(text.clipped(to: 60, model.glyphs))
        }
    }

    /// Appends the inspected program, if it is not this one.
    private static func append(_ programs: [ProgramInfo], to line: inout Line, _ model: Model) {
        guard let first = programs.first, first.hosts.isEmpty else { return }
        var title = Line()
        model.sanitizer.append(
            programs.count == 1 ? first.title : "\(programs.count) programs", Style(.heading), to: &title)
        line.append("  ")
        line.append(title.clipped(to: 24, model.glyphs))
        line.append("  ")
    }

    private static func perSecond(_ rate: Double?) -> String {
        rate == nil ? "-" : Format.rate(rate) + "/s"
    }

    private static func tabs(_ model: Model) -> Line {
        var line = Line()
        for (tab, text) in TabBar.tabs(model) {
            let isOpen = model.tab == tab
            line.append(isOpen ? "[" : " ", Style(.dim))
            line.append(text, isOpen ? Style(.heading, [.bold]) : Style(.dim))
            line.append(isOpen ? "]" : " ", Style(.dim))
        }
        if model.isZoomed { line.append("ZOOM ", Style(.chip)) }
        return line
    }

    private static func right(_ model: Model, room: Int) -> Line {
        switch model.tab {
        case .start: return Line()
        case .list: return Line.fitting([true, false].map { list(model, withOrder: $0) }, in: room)
        case .traffic: return connection(model, room: room)
        case .detail: return Line.fitting(places(model), in: room)
        case .events:
            var line = chip(model.events.filter, model)
            line.append(
                model.naming(model.events.cursor == nil ? "following ({follow})" : "not following ({follow})"),
                Style(.dim))
            return line
        case .output:
            let isFollowing = model.output.top == nil
            return Line(model.naming(isFollowing ? "following ({follow})" : "not following ({follow})"), Style(.dim))
        }
    }

    private static func chip(_ filter: Filter, _ model: Model) -> Line {
        guard !filter.isEmpty else { return Line() }
        var line = Line()
        model.sanitizer.append("filter \(filter.text)", Style(.chip), to: &line)
        line.append("  ")
        return line
    }

    private static func list(_ model: Model, withOrder: Bool) -> Line {
        var line = chip(model.list.filter, model)
        let sorting = model.list.sorting
        if model.list.showsMarked { line.append(model.naming("marked ({show-marked})  "), Style(.chip)) }
        if let chip = model.list.cursor.chip { line.append(model.naming(chip), Style(.dim)) }
        if withOrder {
            line.append(
                "sort \(sorting.column.sentenceName.lowercased()) \(sorting.descending ? "v" : "^")"
                    + model.list.exception(in: model.shared), Style(.dim))
        }
        return line
    }

    private static func connection(_ model: Model, room: Int) -> Line {
        guard let socket = model.selected else { return Line() }
        var line = Line("\(socket.id) ", Style(.heading))
        guard room - line.width >= 8 else { return line }
        line.append(Shorten.address(socket.peerText, to: room - line.width, Style(.heading), model))
        return line
    }

    /// Returns the keys that lead to other connections, and the position of the selected one.
    private static func places(_ model: Model) -> [Line] {
        guard let id = model.list.selected else { return [] }
        let keys = Line(model.naming("{previous} previous  {next} next"), Style(.dim))
        guard let row = model.list.row(of: id, in: model.shared) else { return [keys, Line()] }
        let count = Line("\(row + 1)/\(model.list.rows.count)")
        var both = keys
        both.append("   ")
        both.append(count)
        return [both, keys, count]
    }
}
