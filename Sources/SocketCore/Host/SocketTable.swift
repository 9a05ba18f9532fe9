/// A table of sockets that one request to the kernel returns (sock_diag(7)).
package enum SocketTable: Equatable, Sendable, CaseIterable {
    case tcp4, tcp6, udp4, udp6, unix
    /// The connections of Multipath TCP. Their subflows are in the tables of TCP.
    case multipath4, multipath6

    package var isUnix: Bool { self == .unix }
    package var isTCP: Bool { self == .tcp4 || self == .tcp6 }
    package var isMultipath: Bool { self == .multipath4 || self == .multipath6 }

    /// The transports of its sockets.
    package var transports: Set<HostTransport> {
        isTCP || isMultipath ? [.tcp] : isUnix ? [.unixStream, .unixDatagram, .unixPacket] : [.udp]
    }

    /// The name shown to users.
    package var title: String {
        switch self {
        case .tcp4: "TCP over IPv4"
        case .tcp6: "TCP over IPv6"
        case .udp4: "UDP over IPv4"
        case .udp6: "UDP over IPv6"
        case .unix: "Unix-domain sockets"
        case .multipath4: "Multipath TCP over IPv4"
        case .multipath6: "Multipath TCP over IPv6"
        }
    }

    /// Returns the request for all its sockets in these states, and at these ports if given.
    package func request(
        sequence: UInt32, states: Set<HostState> = Set(HostState.allCases), localPort: UInt16? = nil,
        peerPort: UInt16? = nil
    ) -> [UInt8] {
        let mask = states.reduce(UInt32(0)) { $0 | 1 << UInt32($1.rawValue) }
        let body = isUnix ? unixBody(mask) : internetBody(mask, localPort, peerPort)
        var bytes: [UInt8] = []
        bytes.append(number: UInt32(NetlinkMessage.headerLength + body.count))
        bytes.append(number: NetlinkMessage.socketType)
        // NLM_F_REQUEST | NLM_F_DUMP
        bytes.append(number: UInt16(0x301))
        bytes.append(number: sequence)
        bytes.append(number: UInt32(0))
        return bytes + body
    }

    /// `struct inet_diag_req_v2`.
    private func internetBody(_ states: UInt32, _ localPort: UInt16?, _ peerPort: UInt16?) -> [UInt8] {
        typealias Attribute = HostSocket.InternetAttribute
        let asked: [Attribute] = [.memory, .shutdown] + (isTCP ? [.tcp, .congestion] : isMultipath ? [.tcp] : [])
        let family: UInt8 = self == .tcp4 || self == .udp4 || self == .multipath4 ? 2 : 10
        let extensions = asked.reduce(UInt8(0)) { $0 | 1 << UInt8($1.rawValue - 1) }
        // IPPROTO_MPTCP does not fit: IPPROTO_RAW stands for what the attribute below names.
        var bytes: [UInt8] = [family, isMultipath ? 255 : isTCP ? 6 : 17, extensions, 0]
        bytes.append(number: states)
        bytes.append(number: (localPort ?? 0).bigEndian)
        bytes.append(number: (peerPort ?? 0).bigEndian)
        bytes += [UInt8](repeating: 0, count: 44)
        guard isMultipath else { return bytes }
        // INET_DIAG_REQ_PROTOCOL: IPPROTO_MPTCP.
        bytes.append(number: UInt16(8))
        bytes.append(number: UInt16(3))
        bytes.append(number: UInt32(262))
        return bytes
    }

    /// `struct unix_diag_req`.
    private func unixBody(_ states: UInt32) -> [UInt8] {
        var bytes: [UInt8] = [1, 0, 0, 0]
        bytes.append(number: states)
        bytes.append(number: UInt32(0))
        // UDIAG_SHOW_NAME | PEER | RQLEN | UID. SHUTDOWN is always reported.
        bytes.append(number: UInt32(0x01 | 0x04 | 0x10 | 0x40))
        bytes.append(number: UInt64.max)
        return bytes
    }
}
