import SocketCore

// A socket of a host as its agent tells of it. Ages are as of the socket's time. Namespace and cookie go apart, because
// numbers on the wire have 53 bits.

extension HostSocket: WireMessage {
    package static var blank: HostSocket { HostSocket(id: 0, .tcp, .closed, time: .zero, inode: 0) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        var cookie = self.cookie
        try coder.field(1, &cookie)
        try coder.field(2, &namespace)
        id = HostSocket.id(cookie: HostSocket.cookie(of: cookie), in: namespace)
        try coder.field(3, &transport)
        try coder.field(4, &state)
        try coder.field(5, &time)
        var ends = [local, peer].map { $0?.wireBytes }
        try coder.field(6, &ends[0])
        try coder.field(7, &ends[1])
        (local, peer) = (ends[0].flatMap(SocketAddress.init), ends[1].flatMap(SocketAddress.init))
        try coder.field(8, &inode)
        try coder.narrow(9, &user)
        try coder.field(10, &receiveQueue)
        try coder.field(11, &sendQueue)
        try coder.narrow(12, &shutdown)
        try coder.narrow(13, &timer)
        try coder.narrow(14, &retransmits)
        try coder.field(15, &timerExpires)
        try coder.narrow(16, &interface)
        try coder.field(17, &peerInode)
        try coder.field(18, &listenerInode)
        try coder.field(19, &congestion)
        try coder.field(20, &tcp)
        try coder.field(21, &memory)
        var connection = multipath
        try coder.field(22, &connection)
        multipath = connection
    }
}

extension HostTCP: WireMessage {
    package static var blank: HostTCP { HostTCP() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &lastSent)
        try coder.field(2, &lastReceived)
        try coder.field(3, &lastAcknowledged)
        try coder.field(4, &roundTrip)
        try coder.narrow(5, &congestionWindow)
        try coder.narrow(6, &retransmitted)
        try coder.narrow(7, &tries)
        try coder.narrow(8, &probes)
        try coder.narrow(9, &backoff)
        try coder.field(10, &acknowledged)
        try coder.field(11, &received)
        try coder.field(12, &sent)
        try coder.field(13, &retransmittedBytes)
        try coder.narrow(14, &notSent)
        try coder.field(15, &windowLimited)
        try coder.field(16, &bufferLimited)
        try coder.narrow(17, &sendWindow)
        try coder.narrow(18, &receiveWindow)
    }
}

extension HostMemory: WireMessage {
    package static var blank: HostMemory {
        HostMemory(received: 0, receiveBuffer: 0, sent: 0, sendBuffer: 0, drops: 0)
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.narrow(1, &received)
        try coder.narrow(2, &receiveBuffer)
        try coder.narrow(3, &sent)
        try coder.narrow(4, &sendBuffer)
        try coder.narrow(5, &drops)
    }
}

/// Only what the judge uses: that its queues and counters are not those of one stream.
extension HostMultipath: WireMessage {
    package static var blank: HostMultipath { HostMultipath(receiveQueue: 0, sendQueue: 0) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &receiveQueue)
        try coder.field(2, &sendQueue)
    }
}

extension SocketAddress {
    /// A byte for the family, and the address: its bytes and the port, or the name of a Unix-domain socket.
    fileprivate var wireBytes: [UInt8] {
        switch storage {
        case .v4(let bits, let port): [4] + Self.bytes(bits) + Self.bytes(port.bigEndian)
        case .v6(let high, let low, let port): [6] + Self.bytes(high) + Self.bytes(low) + Self.bytes(port.bigEndian)
        case .text(let text, let port, let isIPv6): [isIPv6 ? 7 : 5] + Self.bytes(port.bigEndian) + Array(text.utf8)
        case .unix(let path): [1] + Array(path.utf8)
        case .abstract(let name): [2] + Array(name.utf8)
        case .unnamed: [0]
        }
    }

    fileprivate init?(_ bytes: [UInt8]) {
        guard let family = bytes.first, bytes.count <= Self.mostBytes else { return nil }
        let rest = bytes.dropFirst()
        func number<Number: FixedWidthInteger>(_ offset: Int, _: Number.Type) -> Number {
            rest.dropFirst(offset).prefix(MemoryLayout<Number>.size).reversed().reduce(0) { $0 << 8 | Number($1) }
        }
        switch (family, rest.count) {
        case (4, 6): self.init(.v4(number(0, UInt32.self), port: number(4, UInt16.self).byteSwapped))
        case (6, 18):
            self.init(.v6(number(0, UInt64.self), number(8, UInt64.self), port: number(16, UInt16.self).byteSwapped))
        case (5, 2...), (7, 2...):
            let text = String(decoding: rest.dropFirst(2), as: UTF8.self)
            self.init(.text(text, port: number(0, UInt16.self).byteSwapped, isIPv6: family == 7))
        case (1, _): self.init(.unix(String(decoding: rest, as: UTF8.self)))
        case (2, _): self.init(.abstract(String(decoding: rest, as: UTF8.self)))
        case (0, 0): self.init(.unnamed)
        default: return nil
        }
    }

    private static let mostBytes = 256

    /// The bytes in the order of memory, which is the network's for an address.
    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}

extension WireCoder {
    /// Codes a number of fewer bits. A larger one becomes the largest.
    mutating func narrow<Value: FixedWidthInteger>(_ number: UInt32, _ value: inout Value) throws(WireError) {
        var wide = Int64(clamping: value)
        try field(number, &wide)
        value = Value(clamping: wide)
    }

    mutating func narrow<Value: FixedWidthInteger>(_ number: UInt32, _ value: inout Value?) throws(WireError) {
        var wide = value.map { Int64(clamping: $0) }
        try field(number, &wide)
        value = wide.map { Value(clamping: $0) }
    }

    mutating func field(_ number: UInt32, _ values: inout Set<Int32>) throws(WireError) {
        var list = values.sorted()
        try field(number, &list)
        values = Set(list)
    }

    mutating func field(_ number: UInt32, _ values: inout Set<UInt64>) throws(WireError) {
        var list = values.sorted()
        try field(number, &list)
        values = Set(list)
    }
}
