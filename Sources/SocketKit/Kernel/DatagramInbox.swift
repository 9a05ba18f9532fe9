import CSocketKitSystem
import Glibc
import SocketCore

/// The memory into which an engine receives datagrams, and from which batches are made.
///
/// The first 2,048 bytes of each of 64 datagrams are close together, so that small ones touch little memory. The rest
/// of each has memory of its own, which the system provides only when a long datagram arrives.
package final class DatagramInbox {
    private let memory: OpaquePointer
    /// Datagrams from a script instead of the kernel.
    private var scripted: [Datagram] = []

    /// The most datagrams that one call receives.
    package static let most = 64
    /// The most bytes that can be kept of one datagram.
    package static let longest = 1 << 20

    package init() {
        // Room for 64 of the longest UDP datagrams, or for fewer that are even longer.
        guard let memory = csystem_inbox_make(4 << 20) else { fatalError("no memory for datagrams") }
        self.memory = memory
    }

    deinit {
        csystem_inbox_free(memory)
    }

    /// Calls recvmmsg(2). Returns the number of datagrams, or -1 with errno.
    func receive(from descriptor: Int32, most: Int, limit: Int) -> Int {
        Int(csystem_inbox_receive(memory, descriptor, UInt32(min(most, Self.most)), UInt32(limit)))
    }

    /// Sets the datagrams to receive, as the kernel of a test does. Their lengths must already be right.
    package func fill(_ datagrams: [Datagram]) {
        scripted = datagrams
    }

    /// Returns the datagrams that the last call received, in order. `port` is the local port.
    package func batch(_ count: Int, port: UInt16) -> DatagramBatch {
        guard scripted.isEmpty else { return scriptedBatch() }
        var builder = BatchBuilder(port: port)
        var total = 0
        let entries = [DatagramBatch.Entry](unsafeUninitializedCapacity: count) { buffer, initialized in
            for index in 0..<count {
                guard let arrival = csystem_inbox_arrival(memory, UInt32(index)) else { break }
                let kept = arrival.pointee.head_length + arrival.pointee.tail_length
                let (source, place) = builder.place(arrival)
                buffer.initializeElement(
                    at: index,
                    to: DatagramBatch.Entry(
                        offset: UInt32(total), count: kept, length: arrival.pointee.length, source: source,
                        arrival: place))
                total += Int(kept)
                initialized = index + 1
            }
        }
        let payload = [UInt8](unsafeUninitializedCapacity: total) { buffer, initialized in
            guard var place = buffer.baseAddress else { return }
            for index in entries.indices {
                guard let arrival = csystem_inbox_arrival(memory, UInt32(index)) else { break }
                memcpy(place, arrival.pointee.head, Int(arrival.pointee.head_length))
                place += Int(arrival.pointee.head_length)
                guard arrival.pointee.tail_length > 0 else { continue }
                memcpy(place, arrival.pointee.tail, Int(arrival.pointee.tail_length))
                place += Int(arrival.pointee.tail_length)
            }
            initialized = total
        }
        return DatagramBatch(
            entries: entries, payload: payload, sources: builder.sources, arrivals: builder.arrivals)
    }

    private func scriptedBatch() -> DatagramBatch {
        defer { scripted = [] }
        var payload: [UInt8] = []
        let entries = scripted.enumerated().map { index, datagram in
            defer { payload += datagram.bytes }
            return DatagramBatch.Entry(
                offset: UInt32(payload.count), count: UInt32(datagram.bytes.count), length: UInt32(datagram.length),
                source: UInt16(index), arrival: UInt16(index))
        }
        return DatagramBatch(
            entries: entries, payload: payload, sources: scripted.map(\.source),
            arrivals: scripted.map { DatagramBatch.Arrival(destination: $0.destination, interface: $0.interface) })
    }
}

/// Gathers the addresses of one batch. Most datagrams have the same source as the one before, so only changes are
/// converted to addresses.
private struct BatchBuilder {
    /// The local port, which the kernel does not report with each datagram.
    let port: UInt16
    var sources: [SocketAddress] = []
    var arrivals: [DatagramBatch.Arrival] = []
    private var lastSource: UnsafeRawPointer?
    private var lastLength: UInt32 = 0
    private var lastArrival: UnsafePointer<csystem_arrival>?

    init(port: UInt16) {
        self.port = port
    }

    /// Returns the indices of one datagram's source and destination.
    mutating func place(_ arrival: UnsafePointer<csystem_arrival>) -> (source: UInt16, arrival: UInt16) {
        if !isSameSource(arrival) {
            sources.append(Self.source(arrival))
            lastSource = arrival.pointee.source
            lastLength = arrival.pointee.source_length
        }
        if !isSamePlace(arrival) {
            arrivals.append(self.arrival(arrival))
            lastArrival = arrival
        }
        return (UInt16(sources.count - 1), UInt16(arrivals.count - 1))
    }

    private func isSameSource(_ arrival: UnsafePointer<csystem_arrival>) -> Bool {
        guard let lastSource, lastLength == arrival.pointee.source_length else { return false }
        return memcmp(lastSource, arrival.pointee.source, Int(lastLength)) == 0
    }

    private func isSamePlace(_ arrival: UnsafePointer<csystem_arrival>) -> Bool {
        guard let lastArrival, lastArrival.pointee.interface == arrival.pointee.interface else { return false }
        return lastArrival.pointee.family == arrival.pointee.family
            && lastArrival.pointee.destination == arrival.pointee.destination
    }

    private static func source(_ arrival: UnsafePointer<csystem_arrival>) -> SocketAddress {
        var storage = sockaddr_storage()
        let length = min(Int(arrival.pointee.source_length), MemoryLayout<sockaddr_storage>.size)
        guard length > 0, let source = arrival.pointee.source else { return .unnamed }
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: source, count: length))
        }
        return Sockaddr.read(&storage, length: socklen_t(length)) ?? .unnamed
    }

    private func arrival(_ arrival: UnsafePointer<csystem_arrival>) -> DatagramBatch.Arrival {
        let interface = arrival.pointee.interface
        let destination = withUnsafeBytes(of: arrival.pointee.destination) { bytes -> SocketAddress? in
            switch arrival.pointee.family {
            case AF_INET: SocketAddress(.v4(bytes.loadUnaligned(as: UInt32.self), port: port))
            case AF_INET6: Sockaddr.ipv6(bytes, port: port)
            default: nil
            }
        }
        return DatagramBatch.Arrival(destination: destination, interface: interface == 0 ? nil : interface)
    }
}
