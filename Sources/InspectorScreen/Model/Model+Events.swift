import InspectorCore
import SocketCore

/// Interaction between the events pane and other panes.
extension Model {
    /// Lists only the events that match a filter.
    mutating func setEventFilter(_ filter: Filter) {
        events.set(filter, in: shared)
    }

    /// Moves to the next event that contains the search text.
    mutating func searchEvents(_ step: Int) {
        if let notice = events.find(step, in: shared) { self.notice = notice }
    }

    /// Shows the traffic of the connection that the event at the cursor is about.
    mutating func jumpToEvent() {
        guard let event = events.current(in: shared) else { return }
        guard shown?.socket(event.socket) != nil else {
            notice = hint("\(event.socket) is no longer listed")
            return
        }
        select(event.socket)
        showTraffic(composing: false)
    }
}
