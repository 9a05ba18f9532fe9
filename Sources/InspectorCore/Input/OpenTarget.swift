import SocketCore

/// What a person can open: a stream, or a socket for datagrams.
package enum OpenTarget: Hashable, Sendable, CustomStringConvertible {
    case stream(Endpoint)
    case datagram(DatagramTarget)

    /// In the form that `parse` reads.
    package var description: String {
        switch self {
        case .stream(let endpoint): endpoint.description
        case .datagram(let target): target.description
        }
    }

    /// Reads what `Endpoint.parse` and `DatagramTarget.parse` read.
    package static func parse(_ text: String, allowsPortZero: Bool = false) throws(EndpointError) -> OpenTarget {
        if DatagramTarget.isMeant(by: text) {
            return .datagram(try DatagramTarget.parse(text, allowsPortZero: allowsPortZero))
        }
        return .stream(try Endpoint.parse(text, allowsPortZero: allowsPortZero))
    }

    /// The forms in which an address is written, for help and hints.
    package static let forms = "host:port, [::1]:port, :port, unix:/path, unix:@name, udp://host:port, unixgram:/path"
}
