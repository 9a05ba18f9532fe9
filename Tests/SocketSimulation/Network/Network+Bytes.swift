import Glibc
import SocketKit

/// What recv and send come to, as Linux has it.
extension Network {
    /// Bytes first; then the error, once; then the end of the stream. `peek` leaves all of that where it is.
    mutating func receive(
        _ link: Int, _ end: Int, into buffer: UnsafeMutableRawBufferPointer, peek: Bool, _ mutation: Mutation
    ) -> IOResult {
        let waiting = links[link].directions[1 - end].waiting
        guard waiting.isEmpty else {
            // A receive may be cut short; what is left is reported again.
            let whole = min(waiting.count, buffer.count)
            let count = !peek && isFaulty && chance.oneIn(8) ? chance.within(1...whole) : whole
            if peek { return copy(waiting.prefix(count), to: buffer) }
            progress += 1
            return take(count, of: waiting, link, end, to: buffer, mutation)
        }
        // After FIN there is nothing but the end, whatever came behind it.
        if links[link].ends[end].error != 0, !links[link].directions[1 - end].isEndDelivered {
            progress += 1
            return .failed(errno: peek ? links[link].ends[end].error : links[link].takeError(end))
        }
        guard links[link].ends[end].isReset || links[link].directions[1 - end].isEndDelivered else {
            return .wouldBlock
        }
        if !links[link].ends[end].hasSeenEnd { progress += 1 }
        links[link].ends[end].hasSeenEnd = true
        return .bytes(0)
    }

    private mutating func take(
        _ count: Int, of waiting: ArraySlice<UInt8>, _ link: Int, _ end: Int,
        to buffer: UnsafeMutableRawBufferPointer, _ mutation: Mutation
    ) -> IOResult {
        if count > 1, mutation.strikes(.losesAByte) {
            links[link].directions[1 - end].take(count)
            return copy(waiting.prefix(count).dropFirst(), to: buffer)
        }
        if count > 1, mutation.strikes(.doublesAByte) {
            links[link].directions[1 - end].take(count - 1)
            return copy(waiting.prefix(1) + waiting.prefix(count - 1), to: buffer)
        }
        links[link].directions[1 - end].take(count)
        return copy(waiting.prefix(count), to: buffer)
    }

    private func copy(_ bytes: ArraySlice<UInt8>, to buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        bytes.withUnsafeBytes { buffer.copyMemory(from: $0) }
        return .bytes(bytes.count)
    }

    mutating func send(
        _ link: Int, _ end: Int, _ buffers: UnsafeBufferPointer<UnsafeRawBufferPointer>
    ) -> IOResult {
        if links[link].ends[end].error != 0 {
            progress += 1
            return .failed(errno: links[link].takeError(end))
        }
        if links[link].ends[end].isReset || links[link].ends[end].isWriteShut { return .failed(errno: EPIPE) }
        var room = links[link].directions[end].room
        if room > 0, isFaulty, chance.oneIn(8) { room = chance.within(1...room) }
        guard room > 0 else { return .wouldBlock }
        var count = 0
        for buffer in buffers where count < room {
            let part = buffer.prefix(room - count)
            links[link].directions[end].send(part)
            count += part.count
        }
        progress += 1
        return .bytes(count)
    }

    // MARK: What the network does

    /// The connections toward whose ends something is under way.
    func arrivals() -> [(link: Int, end: Int)] {
        links.indices.flatMap { link in
            [0, 1].filter { links[link].hasNews(for: $0) }.map { (link, $0) }
        }
    }

    mutating func deliver(to link: Int, _ end: Int, atMost most: Int) {
        events += 1
        links[link].deliver(to: end, atMost: most, resetFirst: chance.oneIn(2))
    }

    /// The descriptors whose connect nobody has answered.
    func unanswered() -> [Int32] {
        openDescriptors.filter { if case .connecting = self[$0]?.role { true } else { false } }
    }

    /// Answers a connect: the engine's own listener does as its backlog has room, others as chance has it.
    mutating func answer(_ descriptor: Int32) {
        guard case .connecting(let address) = self[descriptor]?.role else { return }
        events += 1
        let role = answer(to: address)
        self[descriptor]?.role = role
    }

    private mutating func answer(to address: SocketAddress) -> Role {
        if address.host == Self.host {
            let link = listener(on: address.port ?? 0).flatMap { enter($0, peerEnd: nil) }
            return link.map { .stream(link: $0, end: 0) } ?? .refused(ECONNREFUSED)
        }
        if chance.oneIn(3) { return .refused(chance.pick([ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH])) }
        return .stream(link: makeLink(server: address, peerEnd: 1), end: 0)
    }
}

extension Link {
    /// SO_ERROR is told once.
    mutating func takeError(_ end: Int) -> Int32 {
        defer { ends[end].error = 0 }
        return ends[end].error
    }
}
