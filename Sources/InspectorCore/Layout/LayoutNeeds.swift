import SocketCore

/// How many rows the panes can use, so that each gets those, and the traffic the rest.
package struct LayoutNeeds: Hashable, Sendable {
    /// The list, its heading included.
    package var listRows = 0
    /// The warnings, their rule included; 0: there are none.
    package var warningRows = 0
    /// Whether a connection is selected, so that there is more than the list to show.
    package var hasSelection = false
    /// Whether the pane with the focus takes the whole screen.
    package var isZoomed = false
}
