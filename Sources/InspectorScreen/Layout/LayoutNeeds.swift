import SocketCore

/// How many rows the panes can use. Each gets those, and the traffic gets the rest.
package struct LayoutNeeds: Equatable, Sendable {
    /// The rows of the list, including its heading.
    package var listRows = 0
    /// The rows of the warnings, including their rule, or 0 if there are none.
    package var warningRows = 0
    /// Whether a connection is selected, so that there is more than the list to show.
    package var hasSelection = false
    /// Whether there can be traffic to show beside the list. Of other programs' sockets there is none.
    package var hasTraffic = true
    /// Whether the focused pane takes the whole screen.
    package var isZoomed = false
}
