import InspectorCore
import SocketCore

/// The unread bytes of a socket inspected from outside.
extension Model {
    /// The request for the unread bytes that the screen shows now, or `nil` if it shows none.
    package var unreadRequest: UnreadRequest? {
        guard layout.detail.height > 0, detail.showsUnread, shared.frozen == nil, help == nil, let socket = selected,
            let host = socket.host, unreadRefusal(host) == nil
        else { return nil }
        let isConfirmed = detail.confirmed == socket.id
        guard isConfirmed || !shared.options.peeks.isForeign(host) else { return nil }
        return UnreadRequest(socket.id, isConfirmed: isConfirmed)
    }

    /// Returns why the unread bytes of a socket can't be peeked at, confirmed or not, or `nil` if they can.
    func unreadRefusal(_ host: HostSnapshot) -> String? {
        let rules = shared.options.peeks
        if let refusal = rules.refusal { return "unread bytes are not shown: \(refusal)" }
        if host.machine != nil { return "unread bytes are shown of this host alone, without @HOST" }
        if host.state == .listening { return "a listener has no unread bytes" }
        guard host.process != nil else { return "the program that has it open is not known" }
        // Until the program is examined, nothing is said about its user.
        guard host.programUser != nil else { return "the user of \(host.programText) is not known yet" }
        guard !rules.isForeign(host) || rules.allowsOthers else {
            return "\(host.programText) belongs to \(host.programUserText): \(PeekRules.needsOthers)"
        }
        return nil
    }

    /// Shows or hides the unread bytes of the selected socket. Asks first if they belong to another user.
    mutating func toggleUnread() {
        guard let socket = selected, let host = socket.host else {
            notice = hint("only for sockets seen from outside; Traffic shows the bytes of those opened here")
            return
        }
        if unreadRequest != nil { return hideUnread() }
        if let refusal = unreadRefusal(host) {
            notice = error(refusal)
            return
        }
        if layout.detail.height == 0 { show(.detail) }
        if shared.options.peeks.isForeign(host) { return dialogs.openPeek(socket.id, host) }
        detail.showsUnread = true
    }

    mutating func confirmUnread(_ id: SocketID) {
        (detail.showsUnread, detail.confirmed) = (true, id)
    }

    private mutating func hideUnread() {
        (detail.showsUnread, detail.confirmed, detail.unread) = (false, nil, nil)
    }

    /// Absorbs unread bytes, if they are still requested.
    mutating func absorb(_ look: UnreadLook) {
        if let note = look.note {
            shared.log.note(note, at: look.time)
            events.add(from: log.end - 1, in: shared)
        }
        if unreadRequest?.socket == look.socket { detail.unread = look }
    }

    /// Drops bytes that are no longer shown. A frozen screen keeps them.
    mutating func dropUnread() {
        guard let unread = detail.unread else { return }
        let isShown = layout.detail.height > 0 && list.selected == unread.socket
        if !isShown { detail.unread = nil }
        if list.selected != detail.confirmed { detail.confirmed = nil }
    }
}

extension HostSnapshot {
    /// `user 1000 (www)`: the user of its program, or else of the socket.
    package var programUserText: String {
        guard let number = programUser ?? user else { return "user -" }
        return "user \(number)" + (userName.map { " (\($0))" } ?? "")
    }
}

extension DialogsState {
    /// Asks whether to peek at another user's bytes.
    mutating func openPeek(_ id: SocketID, _ host: HostSnapshot) {
        open = .menu(
            Menu(
                title: "show the unread bytes of \(host.programText), which belongs to \(host.programUserText)?",
                notes: [.words("This is written to the system log.")],
                items: [
                    Menu.Item(key: "n", label: "no", choice: .stay),
                    Menu.Item(key: "y", label: "yes, show the unread bytes of \(id)", choice: .peek(id)),
                ]))
    }
}
