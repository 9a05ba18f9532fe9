extension HostSocket {
    /// Attributes of `struct inet_diag_msg` (linux/inet_diag.h).
    enum InternetAttribute: UInt16 {
        case tcp = 2
        case congestion = 4
        case memory = 7
        case shutdown = 8
        case proto = 10
        case cgroup = 21
    }

    /// Attributes of `struct unix_diag_msg` (linux/unix_diag.h).
    private enum UnixAttribute: UInt16 {
        case name = 0
        case peer = 2
        case waiting = 3
        case queues = 4
        case shutdown = 6
        case user = 7
    }

    /// Reads a socket from one message of a table's dump. Returns `nil` if it is too short, or of another kind.
    package init?(_ bytes: RawSpan, _ message: Range<Int>, of table: SocketTable, time: MonotonicTime) {
        if table.isUnix {
            self.init(unix: bytes, message, time)
        } else {
            self.init(internet: bytes, message, table.isTCP ? .tcp : .udp, time)
        }
    }

    private init?(internet bytes: RawSpan, _ all: Range<Int>, _ transport: HostTransport, _ time: MonotonicTime) {
        guard all.count >= 72, let state = bytes.u8(1, in: all).flatMap(HostState.init),
            let low = bytes.u32(44, in: all), let high = bytes.u32(48, in: all), let inode = bytes.u32(68, in: all),
            let user = bytes.u32(64, in: all)
        else { return nil }
        let cookie = UInt64(high) << 32 | UInt64(low)
        self.init(id: cookie, transport, state, time: time, inode: UInt64(inode), user: user)
        local = Self.address(bytes, all, port: 4, host: 8)
        let far = Self.address(bytes, all, port: 6, host: 24)
        peer = far.flatMap { $0.port == 0 && $0.isWildcard ? nil : $0 }
        timer = bytes.u8(2, in: all) ?? 0
        retransmits = bytes.u8(3, in: all) ?? 0
        interface = bytes.u32(40, in: all) ?? 0
        timerExpires = timer == 0 ? nil : bytes.u32(52, in: all).map { .milliseconds(Int64($0)) }
        receiveQueue = bytes.u32(56, in: all).map(Int64.init)
        sendQueue = bytes.u32(60, in: all).map(Int64.init)
        var offset = all.lowerBound + 72
        while let found = NetlinkAttribute.next(in: bytes, at: &offset, end: all.upperBound) { read(found, bytes) }
    }

    /// Returns the identity in such a message of a table's dump.
    package static func identity(_ bytes: RawSpan, _ message: Range<Int>, of table: SocketTable) -> UInt64? {
        let place = table.isUnix ? 8 : 44
        guard let low = bytes.u32(place, in: message), let high = bytes.u32(place + 4, in: message) else { return nil }
        return UInt64(high) << 32 | UInt64(low)
    }

    private mutating func read(_ attribute: NetlinkAttribute, _ bytes: RawSpan) {
        let content = attribute.content
        switch InternetAttribute(rawValue: attribute.type) {
        // For a listener the same fields hold other numbers.
        case .tcp where state != .listening: tcp = HostTCP(bytes, content)
        case .congestion:
            let name = bytes.array(content).prefix { $0 != 0 }
            congestion = String(decoding: name.prefix(16), as: UTF8.self)
        case .memory: memory = HostMemory(bytes, content)
        case .shutdown: shutdown = bytes.u8(0, in: content) ?? 0
        case .cgroup: cgroup = bytes.u64(0, in: content)
        case .tcp, .proto, nil: break
        }
    }

    /// Returns an address of `struct inet_diag_sockid`. An IPv4 address in IPv6 form becomes IPv4, so that both ends of
    /// a connection name each other.
    private static func address(
        _ bytes: RawSpan, _ all: Range<Int>, port: Int, host: Int
    ) -> SocketAddress? {
        guard let port = bytes.u16(port, in: all).map(UInt16.init(bigEndian:)), let v4 = bytes.u32(host, in: all),
            let high = bytes.u64(host, in: all), let low = bytes.u64(host + 8, in: all),
            let middle = bytes.u32(host + 8, in: all), let last = bytes.u32(host + 12, in: all)
        else { return nil }
        if bytes.u8(0, in: all) == 2 { return SocketAddress(.v4(v4, port: port)) }
        if high == 0, middle == UInt32(0xFFFF).bigEndian { return SocketAddress(.v4(last, port: port)) }
        return SocketAddress(.v6(high, low, port: port))
    }

    private init?(unix bytes: RawSpan, _ all: Range<Int>, _ time: MonotonicTime) {
        guard all.count >= 16, let kind = bytes.u8(1, in: all),
            let state = bytes.u8(2, in: all).flatMap(HostState.init),
            let inode = bytes.u32(4, in: all), let low = bytes.u32(8, in: all), let high = bytes.u32(12, in: all),
            let transport = HostTransport(unixKind: kind)
        else { return nil }
        self.init(id: UInt64(high) << 32 | UInt64(low), transport, state, time: time, inode: UInt64(inode))
        local = .unnamed
        var offset = all.lowerBound + 16
        while let found = NetlinkAttribute.next(in: bytes, at: &offset, end: all.upperBound) {
            let content = found.content
            switch UnixAttribute(rawValue: found.type) {
            case .name: local = Self.name(bytes.array(content))
            case .peer: peerInode = bytes.u32(0, in: content).map(UInt64.init) ?? 0
            case .queues:
                receiveQueue = bytes.u32(0, in: content).map(Int64.init)
                sendQueue = bytes.u32(4, in: content).map(Int64.init)
            case .shutdown: shutdown = bytes.u8(0, in: content) ?? 0
            case .user: user = bytes.u32(0, in: content) ?? 0
            case .waiting, nil: break
            }
        }
    }

    /// Returns the inode of a listener in `SocketTable.unixQueues`, and those of the sockets that wait in its queue.
    package static func queue(_ bytes: RawSpan, _ message: Range<Int>) -> (listener: UInt64, waiting: [UInt64])? {
        guard message.count >= 16, let inode = bytes.u32(4, in: message) else { return nil }
        var offset = message.lowerBound + 16, waiting: [UInt64] = []
        while let found = NetlinkAttribute.next(in: bytes, at: &offset, end: message.upperBound) {
            guard UnixAttribute(rawValue: found.type) == .waiting else { continue }
            waiting += stride(from: 0, to: found.content.count, by: 4).compactMap { bytes.u32($0, in: found.content) }
                .filter { $0 != 0 }.map(UInt64.init)
        }
        return (UInt64(inode), waiting)
    }

    /// A path ends at its first NUL; a name in the abstract namespace begins with one.
    private static func name(_ bytes: [UInt8]) -> SocketAddress {
        if bytes.isEmpty { return .unnamed }
        if bytes[0] == 0 { return .abstract(name: String(native: bytes.dropFirst().prefix(107))) }
        return .unix(path: String(native: bytes.prefix { $0 != 0 }.prefix(108)))
    }
}

extension HostTransport {
    /// SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET.
    fileprivate init?(unixKind kind: UInt8) {
        switch kind {
        case 1: self = .unixStream
        case 2: self = .unixDatagram
        case 5: self = .unixPacket
        default: return nil
        }
    }
}

extension HostTCP {
    /// Reads `struct tcp_info` (linux/tcp.h), of which each kernel fills in the part it knows.
    init(_ bytes: RawSpan, _ all: Range<Int>) {
        self.init()
        tries = bytes.u8(2, in: all) ?? 0
        probes = bytes.u8(3, in: all) ?? 0
        backoff = bytes.u8(4, in: all) ?? 0
        lastSent = Self.milliseconds(bytes.u32(44, in: all))
        lastReceived = Self.milliseconds(bytes.u32(52, in: all))
        lastAcknowledged = Self.milliseconds(bytes.u32(56, in: all))
        roundTrip = bytes.u32(68, in: all).map { .microseconds(Int64($0)) }
        congestionWindow = bytes.u32(80, in: all)
        retransmitted = bytes.u32(100, in: all)
        acknowledged = bytes.u64(120, in: all)
        received = bytes.u64(128, in: all)
        notSent = bytes.u32(144, in: all)
        windowLimited = Self.microseconds(bytes.u64(176, in: all))
        bufferLimited = Self.microseconds(bytes.u64(184, in: all))
        sent = bytes.u64(200, in: all)
        retransmittedBytes = bytes.u64(208, in: all)
        sendWindow = bytes.u32(228, in: all)
        receiveWindow = bytes.u32(232, in: all)
    }

    /// Updates the ages from a later message.
    fileprivate mutating func age(_ bytes: RawSpan, _ all: Range<Int>) {
        lastSent = Self.milliseconds(bytes.u32(44, in: all))
        lastReceived = Self.milliseconds(bytes.u32(52, in: all))
        lastAcknowledged = Self.milliseconds(bytes.u32(56, in: all))
    }

    private static func milliseconds(_ number: UInt32?) -> Duration? { number.map { .milliseconds(Int64($0)) } }

    private static func microseconds(_ number: UInt64?) -> Duration? {
        number.map { .microseconds(Int64(clamping: $0)) }
    }
}

/// The parts of a socket's message that change with time alone.
package struct MessageAges: Equatable, Sendable {
    /// `idiag_expires`: how long until its timer fires.
    private let expiry: Range<Int>?
    /// The range of `struct tcp_info`. Its ages are within `ages`.
    private let tcp: Range<Int>?

    private static let ages = 44..<60

    /// Finds the parts of a message, counted from its beginning.
    package init(_ bytes: RawSpan, _ message: Range<Int>, of table: SocketTable) {
        expiry = table.isUnix || message.count < 72 ? nil : 52..<56
        var offset = message.lowerBound + 72
        var found: Range<Int>?
        while expiry != nil, let next = NetlinkAttribute.next(in: bytes, at: &offset, end: message.upperBound) {
            guard next.type == HostSocket.InternetAttribute.tcp.rawValue else { continue }
            let begin = next.content.lowerBound - message.lowerBound
            found = next.content.count < Self.ages.upperBound ? nil : begin..<(begin + next.content.count)
        }
        tcp = found
    }

    /// The byte ranges that change with time alone, first to last. The second is empty without a TCP part.
    package var places: (Range<Int>, Range<Int>)? {
        guard let expiry else { return nil }
        guard let tcp else { return (expiry, expiry.upperBound..<expiry.upperBound) }
        return (expiry, (tcp.lowerBound + Self.ages.lowerBound)..<(tcp.lowerBound + Self.ages.upperBound))
    }

    /// Updates a socket from a later message that differs only in these parts.
    package func absorb(_ bytes: RawSpan, _ message: Range<Int>, time: MonotonicTime, into socket: inout HostSocket) {
        socket.time = time
        guard let expiry else { return }
        if socket.timer != 0 {
            socket.timerExpires = bytes.u32(expiry.lowerBound, in: message).map { .milliseconds(Int64($0)) }
        }
        guard let tcp else { return }
        let begin = message.lowerBound
        socket.tcp?.age(bytes, (begin + tcp.lowerBound)..<(begin + tcp.upperBound))
    }
}

extension HostMemory {
    /// Reads the values of SK_MEMINFO (linux/sock_diag.h). Returns `nil` if the kernel reported fewer.
    init?(_ bytes: RawSpan, _ all: Range<Int>) {
        guard let received = bytes.u32(0, in: all), let receiveBuffer = bytes.u32(4, in: all),
            let sent = bytes.u32(8, in: all), let sendBuffer = bytes.u32(12, in: all),
            let drops = bytes.u32(32, in: all)
        else { return nil }
        self.init(
            received: received, receiveBuffer: receiveBuffer, sent: sent, sendBuffer: sendBuffer, drops: drops)
    }
}
