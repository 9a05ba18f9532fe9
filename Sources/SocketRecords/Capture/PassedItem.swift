import SocketCore

/// One item of the traffic in a file, as the list of its session's traffic has it.
package struct PassedItem: Sendable {
    package var socket: SocketID
    package var item: TrafficItem
}
