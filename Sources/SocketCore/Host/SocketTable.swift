/// A table of sockets that one request to the kernel returns (sock_diag(7)).
package enum SocketTable: Equatable, Sendable, CaseIterable {
    case tcp4, tcp6, udp4, udp6, unix
    /// The connections of Multipath TCP. Their subflows are in the tables of TCP.
    case multipath4, multipath6
    /// The Unix-domain listeners again, with those that wait in their queues. Such a queue may be too long for the kernel
    /// to report, which would end the dump of the table in which all sockets are.
    case unixQueues

    package var isUnix: Bool { self == .unix || self == .unixQueues }
    package var isTCP: Bool { self == .tcp4 || self == .tcp6 }
    package var isMultipath: Bool { self == .multipath4 || self == .multipath6 }
    /// Whether it only adds to what other tables list.
    package var isExtra: Bool { isMultipath || self == .unixQueues }

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
        case .unixQueues: "queues of Unix-domain sockets"
        }
    }

    /// Returns the request for all its sockets in these states, and at these ports if given.
    package func request(
        sequence: UInt32, states: Set<HostState> = Set(HostState.allCases), localPort: UInt16? = nil,
        peerPort: UInt16? = nil
    ) -> [UInt8] {
        let states = self == .unixQueues ? states.intersection([.listening]) : states
        let mask = states.reduce(UInt32(0)) { $0 | 1 << UInt32($1.rawValue) }
        let ends = [localPort, peerPort].map { (port: $0 ?? 0, ip: nil as IPAddress?) }
        return Self.message(sequence, isDump: true, isUnix ? unixBody(mask) : internetBody(mask, ends[0], ends[1]))
    }

    /// Returns the table of the TCP connection between these addresses and the request for it alone, or `nil` if they
    /// are not of one family of IP. If there is no such connection, the kernel returns a listener that would accept it.
    package static func request(
        sequence: UInt32, local: SocketAddress, peer: SocketAddress
    ) -> (table: SocketTable, bytes: [UInt8])? {
        guard local.family == peer.family, let near = local.ip, let far = peer.ip, let nearPort = local.port,
            let farPort = peer.port
        else { return nil }
        let table = local.family == .v4 ? SocketTable.tcp4 : tcp6
        let body = table.internetBody(.max, (nearPort, near), (farPort, far))
        return (table, message(sequence, isDump: false, body))
    }

    /// Returns the request for the Unix-domain socket with this inode alone, or `nil` if the kernel has no such inode.
    package static func request(sequence: UInt32, inode: UInt64) -> [UInt8]? {
        UInt32(exactly: inode).map { message(sequence, isDump: false, unix.unixBody(.max, inode: $0)) }
    }

    private static func message(_ sequence: UInt32, isDump: Bool, _ body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: UInt32(NetlinkMessage.headerLength + body.count))
        bytes.append(number: NetlinkMessage.socketType)
        // NLM_F_REQUEST, and NLM_F_DUMP.
        bytes.append(number: UInt16(isDump ? 0x301 : 1))
        bytes.append(number: sequence)
        bytes.append(number: UInt32(0))
        return bytes + body
    }

    /// `struct inet_diag_req_v2`. A dump has ports at most.
    private func internetBody(
        _ states: UInt32, _ local: (port: UInt16, ip: IPAddress?), _ peer: (port: UInt16, ip: IPAddress?)
    ) -> [UInt8] {
        typealias Attribute = HostSocket.InternetAttribute
        let asked: [Attribute] = [.memory, .shutdown] + (isTCP ? [.tcp, .congestion] : isMultipath ? [.tcp] : [])
        let family: UInt8 = self == .tcp4 || self == .udp4 || self == .multipath4 ? 2 : 10
        let extensions = asked.reduce(UInt8(0)) { $0 | 1 << UInt8($1.rawValue - 1) }
        // IPPROTO_MPTCP does not fit: IPPROTO_RAW stands for what the attribute below names.
        var bytes: [UInt8] = [family, isMultipath ? 255 : isTCP ? 6 : 17, extensions, 0]
        bytes.append(number: states)
        bytes.append(number: local.port.bigEndian)
        bytes.append(number: peer.port.bigEndian)
        bytes += Self.sixteenBytes(local.ip) + Self.sixteenBytes(peer.ip)
        bytes.append(number: UInt32(0))
        // INET_DIAG_NOCOOKIE, which a dump does not need.
        bytes.append(number: local.ip == nil ? UInt64(0) : .max)
        guard isMultipath else { return bytes }
        // INET_DIAG_REQ_PROTOCOL: IPPROTO_MPTCP.
        bytes.append(number: UInt16(8))
        bytes.append(number: UInt16(3))
        bytes.append(number: UInt32(262))
        return bytes
    }

    private static func sixteenBytes(_ ip: IPAddress?) -> [UInt8] {
        var bytes: [UInt8] = []
        switch ip {
        case .v4(let bits): bytes.append(number: bits)
        case .v6(let high, let low):
            bytes.append(number: high)
            bytes.append(number: low)
        case nil: break
        }
        return bytes + [UInt8](repeating: 0, count: 16 - bytes.count)
    }

    /// `struct unix_diag_req`.
    private func unixBody(_ states: UInt32, inode: UInt32 = 0) -> [UInt8] {
        var bytes: [UInt8] = [1, 0, 0, 0]
        bytes.append(number: states)
        bytes.append(number: inode)
        // UDIAG_SHOW_ICONS, or UDIAG_SHOW_NAME | PEER | RQLEN | UID. SHUTDOWN is always reported.
        bytes.append(number: UInt32(self == .unixQueues ? 0x08 : 0x01 | 0x04 | 0x10 | 0x40))
        bytes.append(number: UInt64.max)
        return bytes
    }
}
