import SocketCore

/// `:find`: a search through the payloads of all connections, which the shell carries out in the background.
extension Model {
    /// Begins a search; what another one found is dropped.
    mutating func find(_ search: PayloadSearch) -> [Effect] {
        findsBegun += 1
        let sockets = (shown?.sockets ?? []).filter { socket in
            // What one leg of a pair receives, the other sends: the client's leg has all of it.
            socket.role != .listener && (list.pair(of: socket, in: shared)?.client.id ?? socket.id) == socket.id
        }
        let request = FindRequest(number: findsBegun, search: search, sockets: sockets.map(\.id))
        list.found = FoundPane(request)
        show(.list)
        return [.find(request)]
    }

    /// Takes what a search has found since the last time.
    mutating func found(_ news: FindProgress) {
        let isFirst = list.found?.current == nil
        list.found?.take(news)
        // What is being typed or asked is about the connection that was selected when it began.
        if isFirst, tab == .list, field == nil, dialog == nil, help == nil { selectFound() }
    }

    mutating func moveInFound(_ step: Int) {
        list.found?.move(step)
        selectFound()
    }

    mutating func selectFound() {
        if let match = list.found?.current { select(match.socket) }
    }

    /// Goes to the result with the cursor, in the traffic of its connection.
    mutating func jumpToFound() {
        guard let found = list.found, let match = found.current else {
            notice = hint(list.found?.progress.isOver == false ? "nothing is found yet" : "nothing was found")
            return
        }
        guard shown?.socket(match.socket) != nil else {
            notice = hint("\(match.socket) is no longer listed")
            return
        }
        select(match.socket)
        showTalk(composing: false)
        payloadSearch = found.request.search
        awaitedMatch = (match.socket, TalkMatch(item: match.item, offset: match.offset))
        showAwaitedMatch()
    }

    /// Shows the result that was jumped to, as soon as the traffic of its connection is known.
    mutating func showAwaitedMatch() {
        guard let (socket, match) = awaitedMatch else { return }
        let isElsewhere = socket != list.selected
        guard isElsewhere || (frozen.map { $0.trafficOf == socket } ?? traffic.isKnown) else { return }
        awaitedMatch = nil
        guard !isElsewhere, tab == .talk, !showMatch(match) else { return }
        notice = error("that is no longer kept")
    }

    /// Drops the results, or else the filter.
    mutating func goBackInList() -> [Effect] {
        guard list.found != nil else {
            goBack()
            return []
        }
        list.found = nil
        refresh()
        return [.stopFind]
    }
}
