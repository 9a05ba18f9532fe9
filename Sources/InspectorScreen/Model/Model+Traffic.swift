import InspectorCore
import SocketCore

/// Interaction between the traffic pane and other panes.
extension Model {
    /// The selected connection's traffic, laid out for the pane's current size.
    var document: TrafficDocument { TrafficDocument(self, width: layout.traffic.width) }

    mutating func cycleView() {
        guard tab == .detail else { return traffic.cycleView(in: document) }
        traffic.viewMode = traffic.viewMode.next(
            after: ViewMode.automatic(detail.unread?.found.bytes ?? []), dissects: false)
    }

    mutating func scrollTraffic(_ step: Int) { traffic.scroll(step, in: document, height: layout.traffic.height) }

    mutating func toggleFollow() {
        switch tab {
        case .events: events.toggleFollow(in: shared)
        case .list: followInList()
        case .output: toggleFollowOutput()
        case .start, .traffic, .detail: traffic.toggleFollow(in: document, height: layout.traffic.height)
        }
    }

    mutating func toggleExpanded() { traffic.toggleExpanded(in: document) }

    /// Moves to the next match, and wraps around. Unfolds a folded item.
    mutating func searchTraffic(_ step: Int) {
        guard let search = traffic.search else {
            notice = hint(naming("no search: {search} starts one"))
            return
        }
        let outcome = traffic.find(step, of: search, in: document)
        notice = outcome
        if !outcome.isError { traffic.goToMatch(in: document, height: layout.traffic.height) }
    }

    /// Shows the result that was jumped to, once the traffic of its connection has arrived.
    mutating func showAwaitedMatch() {
        guard let match = traffic.takeAwaited(in: shared), tab == .traffic else { return }
        guard traffic.unfold(match, in: document) else {
            notice = error(wordsForDroppedMatch)
            return
        }
        traffic.goToMatch(in: document, height: layout.traffic.height)
    }

    /// A file still has what is not in memory, and shows it at its instant.
    private var wordsForDroppedMatch: String {
        guard let match = list.found?.current, let moment = shared.latest?.moment, !moment.isLive, let shown else {
            return "that is no longer kept"
        }
        let wall = shown.wallNanoseconds + (match.time - shown.time).wholeNanoseconds
        let instant = InstantText.text(wall - moment.origin + 1_000_000)
        return "that is not in memory at this time; :at \(instant) goes back to it"
    }

    mutating func copyItem() -> [Effect] { absorb(traffic.copy(in: document)) }

    mutating func editItem() -> [Effect] { absorb(traffic.edit(in: document)) }

    /// Asks where to save the traffic.
    mutating func openSave() -> [Effect] {
        if let id = list.selected, let item = traffic.item(in: document) {
            dialogs.openSave(id, item)
        } else {
            notice = hint("no traffic here yet")
        }
        return []
    }

    /// Handles the closed editor. A line returns to its composer. Other bytes are put there if they were changed.
    mutating func edited(_ subject: EditSubject, _ bytes: [UInt8], wasChanged: Bool) {
        guard wasChanged else { return }
        switch subject {
        case .held: return
        case .line(let id):
            var text = String(decoding: bytes, as: UTF8.self)
            if text.hasSuffix("\n") { text.removeLast() }
            composers.edit(id, in: shared) {
                $0.editor.set(text.split(separator: "\r\n", omittingEmptySubsequences: false).joined(separator: "\n"))
            }
        case .item(let id):
            guard let socket = shared.latest?.socket(id), TrafficWords.whyNoWriting(socket) == nil else {
                notice = hint("\(id) accepts no more bytes, so the edited text was not sent")
                return
            }
            composers.edit(id, in: shared) {
                $0.mode = .escapes
                $0.ending = .none
                $0.editor.set(EscapedText.showLiteral(bytes))
            }
            if list.selected == id { showTraffic(composing: true) }
            notice = hint(
                isComposing
                    ? naming("{send} sends the edited text")
                    : naming("the line of \(id) has the edited text: {write} goes there"))
        }
    }
}
