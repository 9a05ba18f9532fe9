import SocketCore

/// What the screen says of datagrams.
package enum DatagramWords {
    /// What the numbers of an event say.
    package static func detail(_ event: SocketEvent, of socket: SocketSnapshot?) -> String {
        switch event.kind {
        case .bound: socket?.local?.description ?? ""
        case .datagramsReceived: "\(Format.count(event.first, "datagram")), \(event.second) B"
        case .datagramSent: "\(event.first) B"
        case .datagramFailed:
            event.second == 0
                ? "\(event.first) B" : "\(event.first) B: \(ErrnoWords.name(Int32(truncatingIfNeeded: event.second)))"
        case .datagramsDropped: "\(Format.count(event.first, "datagram")), \(reason(event.second))"
        case .datagramsTruncated: "\(Format.count(event.first, "datagram")) longer than what is kept"
        case .datagramError: "of one sent before: \(ErrnoWords.name(Int32(truncatingIfNeeded: event.first)))"
        default: ""
        }
    }

    /// Why datagrams were dropped on this side.
    package static func reason(_ number: Int) -> String {
        switch number {
        case 0: "by the receive filter"
        case 1: "not from the connected peer"
        case 2: "nobody fetched those before"
        default: "held back by the send filter"
        }
    }
}
