import SocketCore

/// The cursor: which connection it is on when rows come and go.
extension ListPane {
    /// What the user is doing while the rows change.
    struct Pursuit {
        var tab: Model.Tab
        var hasDialog: Bool
        /// What is typed in the field, if one is open.
        var field: OpenField.Purpose?
        /// A socket that was opened for the user and is in no snapshot yet.
        var expected: SocketID?
    }

    struct Jump: Hashable, Sendable {
        var source: SocketID
        var target: SocketID
        var top: Int
    }

    /// The newest connection, if the cursor follows them, is not on it, and nothing else is being done.
    func newest(during pursuit: Pursuit) -> SocketID? {
        guard follows, pursuit.tab == .list, found == nil, !pursuit.hasDialog, pursuit.field == nil else { return nil }
        return rows.max().flatMap { $0 == selected ? nil : $0 }
    }

    /// Puts the cursor where its rule says. `row` is where it was.
    mutating func reselect(_ row: Int?, during pursuit: Pursuit, in shared: Shared) {
        if found != nil { return }
        if !stays(row, during: pursuit, in: shared) {
            selected = rows.isEmpty ? nil : rows[min(max(0, row ?? 0), rows.count - 1)]
        }
        leaveListener(during: pursuit, in: shared)
    }

    private func stays(_ row: Int?, during pursuit: Pursuit, in shared: Shared) -> Bool {
        guard let selected else { return false }
        if selected == pursuit.expected { return true }
        let isElsewhere = pursuit.tab != .list || pursuit.hasDialog
        if self.row(of: selected, in: shared) != nil,
            isElsewhere || pursuit.field != nil || !keepsPlace(row, in: shared)
        {
            return true
        }
        // What is being looked at stays, listed or not: what is typed must never go to another connection.
        return isElsewhere || pursuit.field == .command
    }

    /// Nobody has moved the cursor yet and it is on what was there first, a listener or something that is over: the
    /// first connection that lives is more worth a look.
    private mutating func leaveListener(during pursuit: Pursuit, in shared: Shared) {
        guard !isChosen, pursuit.tab == .list || pursuit.tab == .start, !pursuit.hasDialog, pursuit.field != .command,
            let shown = shared.shown, let socket = selected.flatMap(shown.socket),
            socket.role == .listener || !socket.isLive
        else { return }
        let first = rows.first { id in
            shown.position(of: id).map { shown.sockets[$0].role != .listener && shown.sockets[$0].isLive } ?? false
        }
        if let first { selected = first }
    }

    /// Lets the cursor keep its connection, keep its place, or go to each new connection.
    mutating func stepCursorRule() -> Model.Notice {
        cursor = cursor.next
        isChosen = true
        return .hint(cursor.sentence)
    }
}
