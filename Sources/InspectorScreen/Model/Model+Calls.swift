import InspectorCore
import SocketCore

/// The system calls of the program that is run, or that was run when a recording was made.
extension Model {
    /// Lists the calls on the selected connection, or on all sockets, instead of the rows.
    mutating func listCalls(ofAll: Bool) -> [Effect] {
        guard shared.calls != nil else {
            let name = shared.child?.name
            notice = hint(name.map { "the calls of \($0) are not traced: run --calls does that" } ?? untraced)
            return []
        }
        guard ofAll || selected != nil else {
            notice = hint("no connection is selected; :calls all lists those on all sockets")
            return []
        }
        let pane = FoundPane(calls: ofAll ? nil : selected?.id, matches(of: ofAll ? nil : selected?.id))
        guard !pane.matches.isEmpty else {
            let what = ofAll ? "of \(shared.child?.name ?? "the program")" : "on \(selected.map { "\($0.id)" } ?? "it")"
            notice = hint("no call \(what) is known" + (ofAll ? "" : "; :calls all lists those on all sockets"))
            return []
        }
        list.found = pane
        show(.list)
        return [.stopFind]
    }

    private var untraced: String {
        shared.programs.contains { !$0.isOurs }
            ? "no calls are known here: socktui run --calls --record FILE -- COMMAND records them"
            : "no program is running: socktui run --calls -- COMMAND starts one"
    }

    /// Lists the calls at the instant shown, while they are listed.
    mutating func refreshCalls() {
        guard let found = list.found, found.listsCalls, shared.frozen == nil else { return }
        let calls = matches(of: found.callsOf)
        list.found?.refresh(calls)
    }

    /// The calls that are over, and then those that wait. Those that read one message in pieces are one.
    private func matches(of id: SocketID?) -> [FoundMatch] {
        guard let ledger = shared.calls else { return [] }
        let socket = id.flatMap { shared.shown?.socket($0) }
        func isListed(_ call: SocketCall) -> Bool {
            id == nil || call.id == id || socket.map { call.isOn($0) } ?? false
        }
        let calls = ledger.latest.filter(isListed) + ledger.longestWaiting.filter(isListed)
        return SocketCall.gathered(calls).suffix(FindProgress.limit).map(FoundMatch.init)
    }
}
