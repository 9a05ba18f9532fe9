/// One datagram that was received, and what the kernel said of it.
public struct Datagram: Sendable {
    /// The payload, as far as it was kept; empty is a datagram too.
    public var bytes: [UInt8]
    /// Who sent it; `unnamed` for a Unix-domain socket without a name.
    public var source: SocketAddress
    /// The address that it was sent to (IP_PKTINFO): one of ours, a multicast group, or the broadcast address; nil where
    /// the kernel does not say.
    public var destination: SocketAddress?
    /// The index of the interface that it came in by (`if_indextoname(3)`); nil where the kernel does not say.
    public var interface: UInt32?
    /// Bytes as it was sent; more than `bytes.count` when it was longer than
    /// `DatagramConfiguration.maximumReceiveLength`.
    public var length: Int
    /// What the receive filter gave along.
    public var context: (any Sendable)?

    /// Whether its end was cut off.
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

/// Datagrams that were received together, in the order in which they came. Their payloads lie in one piece of memory,
/// so that a batch costs two allocations however many it holds.
public struct DatagramBatch: Sendable, RandomAccessCollection {
    /// Where one datagram lies, and which of the batch's addresses are its own.
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

    /// Where datagrams came to.
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
    /// One for each entry; empty: there is none.
    package var contexts: [(any Sendable)?] = []

    package init(entries: [Entry], payload: [UInt8], sources: [SocketAddress], arrivals: [Arrival]) {
        self.entries = entries
        self.payload = payload
        self.sources = sources
        self.arrivals = arrivals
    }

    /// The first datagram's position.
    public var startIndex: Int { 0 }
    /// How many there are.
    public var endIndex: Int { entries.count }

    /// One datagram, with a copy of its payload.
    public subscript(index: Int) -> Datagram {
        let entry = entries[index]
        let arrival = arrivals[Int(entry.arrival)]
        return Datagram(
            bytes: Array(payload[Int(entry.offset)..<Int(entry.offset + entry.count)]),
            source: sources[Int(entry.source)], destination: arrival.destination, interface: arrival.interface,
            length: Int(entry.length), context: contexts.isEmpty ? nil : contexts[index])
    }

    /// Runs `body` with one datagram's payload where it lies, for the length of the call.
    public func withBytes<R>(at index: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let entry = entries[index]
        return try payload.withUnsafeBytes {
            try body(UnsafeRawBufferPointer(rebasing: $0[Int(entry.offset)..<Int(entry.offset + entry.count)]))
        }
    }

    /// Who sent one datagram.
    public func source(at index: Int) -> SocketAddress { sources[Int(entries[index].source)] }

    /// Bytes of all payloads, as far as they were kept.
    public var byteCount: Int { entries.reduce(0) { $0 + Int($1.count) } }

    /// The memory that it takes up, in bytes: all payloads that it holds, and what each datagram takes besides.
    package var weight: Int { payload.count + entries.count * Self.datagramWeight }

    /// What one of its datagrams takes up.
    package func weight(at index: Int) -> Int { Int(entries[index].count) + Self.datagramWeight }

    /// What one datagram takes up besides its payload.
    package static let datagramWeight = 64

    /// The same batch with only those datagrams for which `keeps` holds. It shares the memory of this one, unless most
    /// of that would be kept alive for nothing.
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

    /// Some of the datagrams in memory of their own, without their contexts.
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
