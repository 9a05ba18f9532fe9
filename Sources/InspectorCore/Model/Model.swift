import SocketCore

/// Everything that the screen is drawn from. `update` is the only writer.
package struct Model: Sendable {
    /// What is decided before the first frame and never changes.
    package struct Options: Hashable, Sendable {
        /// Whether only ASCII is drawn.
        package var ascii: Bool
        /// The program's version, as the start screen shows it.
        package var version: String
        /// The keys in force.
        package var keys = KeyTable.standard

        /// Whether lines that are sent are told to the shell, which keeps them for other runs.
        package var keepsHistory = false
        /// Which warnings are shown.
        package var lints: LintSettings
        /// Whether the list begins with a row for each leg of a relayed connection.
        package var showsLegs = false

        package init(ascii: Bool, version: String, lints: LintSettings = LintSettings()) {
            self.ascii = ascii
            self.version = version
            self.lints = lints
        }
    }

    /// The screens that fill the terminal.
    package enum Tab: Hashable, Sendable, CaseIterable {
        case start, list, talk, detail, events
    }

    /// A sentence for the person, above the footer.
    package struct Notice: Hashable, Sendable {
        package var text: String
        package var isError: Bool

        static func hint(_ text: String) -> Notice { Notice(text: text, isError: false) }
        static func error(_ text: String) -> Notice { Notice(text: text, isError: true) }
    }

    package internal(set) var shared: Shared

    package internal(set) var tab = Tab.start
    /// Whether keys go to the composer of the selected connection.
    package internal(set) var isComposing = false
    package internal(set) var dialogs = DialogsState()
    package internal(set) var help: HelpState?
    package internal(set) var field: OpenField?
    package internal(set) var notice: Notice?

    /// When rows, sums and findings of all sessions were made, and from which sessions.
    var refreshed: (sessions: SessionsMark, time: MonotonicTime)?
    package internal(set) var traffic = TrafficState()
    package internal(set) var list = ListPane()
    /// Whether the pane with the focus takes the whole screen.
    package internal(set) var isZoomed = false
    package internal(set) var events = EventsState()
    /// The filter in the open field, where it has not taken effect yet.
    var typedFilter: (filter: Filter, isOfEvents: Bool)?
    /// How often all rows, or all events, were matched with a filter that was set.
    package internal(set) var filterRuns = 0
    package internal(set) var start = StartState()
    package internal(set) var talks: [SocketID: TalkState] = [:]
    package internal(set) var composers: [SocketID: Composer] = [:]
    /// Lines sent in this run and others, by peer.
    var sentLines: [String: [SentLine]] = [:]
    /// What is looked for in payloads, and where it was found last.
    package internal(set) var payloadSearch: PayloadSearch?
    package internal(set) var talkMatch: TalkMatch?
    /// The place to show once the traffic of the selected connection is known.
    var awaitedMatch: (socket: SocketID, match: TalkMatch)?
    /// How many searches over all connections were begun.
    var findsBegun = 0
    /// Whether ^X was pressed in the composer and its second key is awaited.
    var awaitsChord = false
    /// Where the mouse was pressed last, and whether the user was told how to select text with it.
    var pressed: MouseEvent?
    var knowsDrags = false
    /// What is at the path in the composer, as far as it is known.
    package internal(set) var fileFacts: FileFacts?
    package internal(set) var viewMode = ViewMode.auto
    /// The files that were sent whole, by socket.
    package internal(set) var sentFiles: [SocketID: [SentFile]] = [:]
    /// Whether pings, pongs and Closes are left out between the messages of a WebSocket.
    package internal(set) var hidesControlFrames = false
    /// Lines typed after `:`, oldest first.
    var commandHistory: [String] = []
    package internal(set) var detail = DetailState()
    package internal(set) var warnings = WarningsState()
    /// A socket that was opened for this person and is in no snapshot yet.
    package internal(set) var expected: SocketID?
    /// A listener whose first connection is to be shown as soon as it comes.
    package internal(set) var awaiting: SocketID?

    package init(options: Options) {
        shared = Shared(options: options)
        list.showsLegs = options.showsLegs
    }

    /// The connection that the cursor is on, while it is listed.
    package var selected: SocketSnapshot? { list.selected.flatMap { shown?.socket($0) } }

    /// The traffic of the selected connection as far as it is known at the instant that is shown.
    package var shownTraffic: TrafficSnapshot {
        guard let frozen else { return traffic.snapshot }
        return frozen.trafficOf == list.selected ? frozen.traffic : traffic.asOf(frozen.snapshot.time)
    }

    /// Where keys go.
    package var context: KeyContext {
        if help != nil { return field?.purpose == .helpFilter ? .field : .help }
        switch dialog {
        case .form: return .form
        case .menu: return .menu
        case nil: return field == nil ? paneContext : .field
        }
    }

    /// Where keys go once dialogs, fields and the help are closed.
    package var paneContext: KeyContext {
        switch tab {
        case .start: return .start
        case .list: return .list
        case .talk: return isComposing ? .composer : .talk
        case .detail: return .detail
        case .events: return .events
        }
    }

    /// What the next snapshot shall hold for the screen as it stands.
    package var snapshotRequest: SnapshotRequest {
        let rows = layout.listRows
        var asked = Set(list.rows.dropFirst(list.top).prefix(max(0, rows)))
        if let selected = list.selected { asked.insert(selected) }
        // Both legs of a relayed pair are in its row.
        if let shown { asked.formUnion(asked.compactMap { shown.pair(of: $0) }.flatMap { $0.legs.map(\.id) }) }
        asked = findings.looking(at: asked, in: latest)
        let needsAll = list.sorting.column.asksKernel || list.filter.asksKernel
        return SnapshotRequest(
            kernel: needsAll ? .all : asked.isEmpty ? .none : .only(asked), eventsFrom: log.next, traffic: list.selected
        )
    }
}
