import InspectorCore
import SocketCore

/// The complete state that the screen is drawn from. Only `update` writes it.
package struct Model: Sendable {
    /// Options set before the first frame, which never change.
    package struct Options: Equatable, Sendable {
        /// Whether only ASCII is drawn.
        package var ascii: Bool
        /// The program's version, for the start screen.
        package var version: String
        /// The effective keys.
        package var keys = KeyTable.standard

        /// Whether sent lines are passed to the shell, which keeps them for later runs.
        package var keepsHistory = false
        /// Which warnings are shown.
        package var lints: LintSettings
        /// The instant of an opened file to show first, in nanoseconds from its beginning, or `nil` for its end.
        package var instant: Int64?
        /// The initial filter of the list.
        package var filter = Filter()
        /// Whether the unread bytes of other programs may be peeked at.
        package var peeks = PeekRules()
        /// Whether a file, a program or the host is being opened. The list is then shown at once, so that no key goes to
        /// the start screen.
        package var isOpening = false
        /// Whether the sockets in TIME-WAIT on a host are one row, unless the filter names that state.
        package var foldsWaiting = true
        /// Whether the list starts with a separate row for each leg of a relayed connection.
        package var showsLegs = false

        package init(ascii: Bool, version: String, lints: LintSettings = LintSettings()) {
            self.ascii = ascii
            self.version = version
            self.lints = lints
        }
    }

    /// The screens that fill the terminal.
    package enum Tab: Equatable, Sendable, CaseIterable {
        case start, list, traffic, detail, events, output
    }

    /// A sentence for the user, above the footer.
    package struct Notice: Equatable, Sendable {
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
    package internal(set) var field = FieldState()
    package internal(set) var notice: Notice?

    /// When the rows, sums and findings of all sessions were computed, and from which sessions.
    var refreshed: (sessions: SessionsMark, time: MonotonicTime)?
    package internal(set) var traffic = TrafficState()
    package internal(set) var dissection = Dissection()
    package internal(set) var list = ListPane()
    /// Whether the focused pane takes the whole screen.
    package internal(set) var isZoomed = false
    package internal(set) var events = EventsState()
    package internal(set) var start = StartState()
    package internal(set) var composers = ComposerState()
    /// The last mouse press. `knowsDrags` says whether the user was told how to select text.
    var pressed: MouseEvent?
    var knowsDrags = false
    package internal(set) var detail = DetailState()
    package internal(set) var warnings = WarningsState()
    package internal(set) var output = OutputState()
    /// A socket opened for this user that is in no snapshot yet.
    package internal(set) var expected: SocketID?
    /// A listener whose first connection will be shown as soon as it arrives.
    package internal(set) var awaiting: SocketID?

    package init(options: Options) {
        shared = Shared(options: options)
        list.showsLegs = options.showsLegs
        if options.isOpening { tab = .list }
        detail.showsUnread = options.peeks.isOn
        list.filter = options.filter
    }

    /// The selected connection, while it is listed.
    package var selected: SocketSnapshot? { list.selected.flatMap { shown?.socket($0) } }

    /// The context that handles keys.
    package var context: KeyContext {
        if help != nil { return field.open?.purpose == .helpFilter ? .field : .help }
        switch dialogs.open {
        case .form: return .form
        case .menu: return .menu
        case nil: return field.open == nil ? paneContext : .field
        }
    }

    /// The context that handles keys once dialogs, fields and the help are closed.
    package var paneContext: KeyContext {
        switch tab {
        case .start: return .start
        case .list: return .list
        case .traffic: return isComposing ? .composer : .traffic
        case .detail: return .detail
        case .events: return .events
        case .output: return .output
        }
    }

    /// The request for what the current screen needs from the next snapshot.
    package var snapshotRequest: SnapshotRequest {
        let rows = layout.listRows
        var asked = Set(list.rows.dropFirst(list.top).prefix(max(0, rows)))
        if let selected = list.selected { asked.insert(selected) }
        // The row of a relayed pair shows both legs.
        if let shown { asked.formUnion(asked.compactMap { shown.pair(of: $0) }.flatMap { $0.legs.map(\.id) }) }
        asked = shared.findings.looking(at: asked, in: shared.latest)
        let needsAll = list.sorting.column.asksKernel || list.filter.asksKernel
        var request = SnapshotRequest(
            kernel: needsAll ? .all : asked.isEmpty ? .none : .only(asked), eventsFrom: log.next, traffic: list.selected
        )
        (request.instant, request.jump) = (shared.rewind?.instant, shared.jump)
        // A filter, and the list of programs, count those of their own.
        request.foldsWaiting = shared.options.foldsWaiting && list.filter.isEmpty && !showsPrograms
        return request
    }
}
