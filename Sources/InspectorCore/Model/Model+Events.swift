import SocketCore

/// What the events pane and others do to each other.
extension Model {
    /// Lists only the events that pass a filter.
    mutating func setEventFilter(_ filter: Filter) {
        events.set(filter, in: shared)
    }

    /// Goes to the next event with the text that is looked for.
    mutating func searchEvents(_ step: Int) {
        if let notice = events.find(step, in: shared) { self.notice = notice }
    }

    /// Goes to the traffic of the connection that the event at the cursor is about.
    mutating func jumpToEvent() {
        guard let event = events.current(in: shared) else { return }
        guard shown?.socket(event.socket) != nil else {
            notice = hint("\(event.socket) is no longer listed")
            return
        }
        select(event.socket)
        showTalk(composing: false)
    }
}
