/// One received datagram, with what the kernel reported about it.
public struct Datagram: Sendable {
    /// The payload, up to the maximum length. It can be empty.
    public var bytes: [UInt8]
    /// The sender's address, or `unnamed` for a Unix-domain socket without a name.
    public var source: SocketAddress
    /// The address that it was sent to (IP_PKTINFO): a local address, a multicast group or the broadcast address, or
    /// `nil` if the kernel doesn't report it.
    public var destination: SocketAddress?
    /// The index of the interface that it arrived on (`if_indextoname(3)`), or `nil` if the kernel doesn't report it.
    public var interface: UInt32?
    /// The length of the datagram as sent, in bytes. It exceeds `bytes.count` if the datagram was longer than
    /// `DatagramConfiguration.maximumReceiveLength`.
    public var length: Int
    /// A value that the receive filter attached.
    public var context: (any Sendable)?

    /// Whether the payload was truncated.
    public var isTruncated: Bool { length > bytes.count }

    /// Describes a datagram.
    public init(
        bytes: [UInt8], source: SocketAddress, destination: SocketAddress? = nil, interface: UInt32? = nil,
        length: Int? = nil, context: (any Sendable)? = nil
    ) {
        self.bytes = bytes
        self.source = source
        self.destination = destination
        self.interface = interface
        self.length = length ?? bytes.count
        self.context = context
    }
}

/// Datagrams that were received together, in order of arrival. Their payloads share one buffer, so a batch costs two
/// allocations however many datagrams it holds.
public struct DatagramBatch: Sendable, RandomAccessCollection {
    /// The position of one datagram's payload, and the indices of its addresses in the batch.
    package struct Entry: Sendable {
        package var offset: UInt32
        package var count: UInt32
        package var length: UInt32
        package var source: UInt16
        package var arrival: UInt16

        package init(offset: UInt32, count: UInt32, length: UInt32, source: UInt16, arrival: UInt16) {
            self.offset = offset
            self.count = count
            self.length = length
            self.source = source
            self.arrival = arrival
        }
    }

    /// The destination and interface of datagrams.
    package struct Arrival: Sendable, Equatable {
        package var destination: SocketAddress?
        package var interface: UInt32?

        package init(destination: SocketAddress?, interface: UInt32?) {
            self.destination = destination
            self.interface = interface
        }
    }

    package var entries: [Entry]
    package let payload: [UInt8]
    package let sources: [SocketAddress]
    package let arrivals: [Arrival]
    /// The contexts, one for each entry, or empty if there are none.
    package var contexts: [(any Sendable)?] = []

    package init(entries: [Entry], payload: [UInt8], sources: [SocketAddress], arrivals: [Arrival]) {
        self.entries = entries
        self.payload = payload
        self.sources = sources
        self.arrivals = arrivals
    }

    /// The first datagram's position.
    public var startIndex: Int { 0 }
    /// The position after the last datagram.
    public var endIndex: Int { entries.count }

    /// Returns one datagram, with a copy of its payload.
    public subscript(index: Int) -> Datagram {
        let entry = entries[index]
        let arrival = arrivals[Int(entry.arrival)]
        return Datagram(
            bytes: Array(payload[Int(entry.offset)..<Int(entry.offset + entry.count)]),
            source: sources[Int(entry.source)], destination: arrival.destination, interface: arrival.interface,
            length: Int(entry.length), context: contexts.isEmpty ? nil : contexts[index])
    }

    /// Runs `body` with one datagram's payload, which is borrowed for the length of the call.
    public func withBytes<R>(at index: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let entry = entries[index]
        return try payload.withUnsafeBytes {
            try body(UnsafeRawBufferPointer(rebasing: $0[Int(entry.offset)..<Int(entry.offset + entry.count)]))
        }
    }

    /// Returns the sender of one datagram.
    public func source(at index: Int) -> SocketAddress { sources[Int(entries[index].source)] }

    /// The number of payload bytes, without those that were truncated.
    public var byteCount: Int { entries.reduce(0) { $0 + Int($1.count) } }

    /// The memory that the batch takes up, in bytes: its whole payload buffer, and `datagramWeight` for each datagram.
    package var weight: Int { payload.count + entries.count * Self.datagramWeight }

    /// Returns the memory that one of its datagrams takes up, in bytes.
    package func weight(at index: Int) -> Int { Int(entries[index].count) + Self.datagramWeight }

    /// The memory that one datagram takes up in addition to its payload, in bytes.
    package static let datagramWeight = 64

    /// Returns the batch with only those datagrams for which `keeps` holds. The result shares this batch's memory,
    /// unless that would keep mostly unused bytes alive.
    package func keeping(_ keeps: (Int) -> Bool) -> DatagramBatch {
        let indices = entries.indices.filter(keeps)
        var kept = self
        let bytes = indices.reduce(0) { $0 + Int(entries[$1].count) }
        if bytes * 2 < payload.count || indices.count * 2 < entries.count {
            kept = copy(of: indices)
        } else {
            kept.entries = indices.map { entries[$0] }
        }
        if !contexts.isEmpty { kept.contexts = indices.map { contexts[$0] } }
        return kept
    }

    /// Returns some of the datagrams in new memory, without their contexts.
    private func copy(of indices: [Int]) -> DatagramBatch {
        var (entries, payload): ([Entry], [UInt8]) = ([], [])
        var (sources, arrivals): ([SocketAddress], [Arrival]) = ([], [])
        for index in indices {
            let former = self.entries[index]
            let (source, arrival) = (self.sources[Int(former.source)], self.arrivals[Int(former.arrival)])
            if sources.last != source { sources.append(source) }
            if arrivals.last != arrival { arrivals.append(arrival) }
            entries.append(
                Entry(
                    offset: UInt32(payload.count), count: former.count, length: former.length,
                    source: UInt16(sources.count - 1), arrival: UInt16(arrivals.count - 1)))
            payload += self.payload[Int(former.offset)..<Int(former.offset + former.count)]
        }
        return DatagramBatch(entries: entries, payload: payload, sources: sources, arrivals: arrivals)
    }
}
