import InspectorCore
import SocketCore

/// The system calls of the program that is run.
extension Model {
    /// Lists the calls on the selected connection, or on all sockets, instead of the rows.
    mutating func listCalls(ofAll: Bool) -> [Effect] {
        guard let child = shared.child else {
            notice = hint("no program is running: socktui run --calls -- COMMAND starts one")
            return []
        }
        guard child.callLosses != nil else {
            notice = hint("the calls of \(child.name) are not traced: run --calls does that")
            return []
        }
        guard ofAll || selected != nil else {
            notice = hint("no connection is selected; :calls all lists those on all sockets")
            return []
        }
        let pane = FoundPane(calls: ofAll ? nil : selected?.id, matches(of: ofAll ? nil : selected?.id))
        guard !pane.matches.isEmpty else {
            let what = ofAll ? "of \(child.name)" : "on \(selected.map { "\($0.id)" } ?? "it")"
            notice = hint("no call \(what) is known" + (ofAll ? "" : "; :calls all lists those on all sockets"))
            return []
        }
        list.found = pane
        show(.list)
        return [.stopFind]
    }

    /// Adds the calls since the last message.
    mutating func absorb(_ news: [SocketCall], _ losses: CallLosses?) {
        guard losses != nil || !news.isEmpty else { return }
        shared.calls.absorb(news, losses)
        guard !news.isEmpty, let found = list.found, found.listsCalls else { return }
        let calls = matches(of: found.callsOf)
        list.found?.refresh(calls)
    }

    /// The calls that are over, and then those that wait.
    private func matches(of id: SocketID?) -> [FoundMatch] {
        let socket = id.flatMap { shared.latest?.socket($0) }
        func isListed(_ call: SocketCall) -> Bool {
            id == nil || call.id == id || socket.map { call.isOn($0) } ?? false
        }
        let waiting = shared.calls.longestWaiting.filter(isListed)
        return (shared.calls.latest.filter(isListed) + waiting).suffix(FindProgress.limit).map(FoundMatch.init)
    }
}
