import SocketCore

/// The cursor: which connection it is on when rows are added or removed.
extension ListPane {
    /// What the user is doing while the rows change.
    struct Pursuit {
        var tab: Model.Tab
        var hasDialog: Bool
        /// The purpose of the open field, if there is one.
        var field: OpenField.Purpose?
        /// A socket opened for the user that is in no snapshot yet.
        var expected: SocketID?
    }

    struct Jump: Equatable, Sendable {
        var source: SocketID
        var target: SocketID
        var top: Int
    }

    /// Returns the newest connection, if the cursor follows new ones, is not on it, and the user is doing nothing else.
    func newest(during pursuit: Pursuit) -> SocketID? {
        guard follows, pursuit.tab == .list, found == nil, !pursuit.hasDialog, pursuit.field == nil else { return nil }
        return rows.max().flatMap { $0 == selected ? nil : $0 }
    }

    /// Moves the cursor by its rule. `row` is its previous row.
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
        // Whatever is being viewed stays selected, listed or not, so that typed text never goes to another connection.
        return isElsewhere || pursuit.field == .command
    }

    /// Moves to the first live connection, if the user has not moved the cursor yet and it is on a listener or an ended
    /// session, because a live connection is more interesting.
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

    /// Steps the cursor rule: keep the connection, keep the position, or move to each new connection.
    mutating func stepCursorRule() -> Model.Notice {
        cursor = cursor.next
        isChosen = true
        return .hint(cursor.sentence)
    }
}
