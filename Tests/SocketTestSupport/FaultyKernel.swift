import Glibc
import SocketKit

/// The real kernel, save for the answers that a test puts in its place.
package final class FaultyKernel: Kernel {
    /// A call whose answer can be forced.
    package enum Call: Hashable, Sendable {
        case openStream, accept, receive, send, openDatagram, receiveDatagrams, sendDatagrams, bind, pendingError
    }

    private struct State {
        var faults: [Call: [Int32]] = [:]
        var counts: [Call: Int] = [:]
        var longestSend = Int.max
        var longestReceive = Int.max
        var always: [Call: Int32] = [:]
        var beforeListening: (@Sendable () -> Void)?
        var open: Set<Int32> = []
    }

    private let real = LinuxKernel()
    private let state = Lock(State())

    package init() {}

    /// Makes the next calls of this kind fail with these errnos, one each; 0 lets a bind pass.
    package func fail(_ call: Call, with errnos: [Int32]) {
        state.withLock { $0.faults[call, default: []] += errnos }
    }

    /// Makes every call of this kind fail with this errno, until that is nil.
    package func fail(_ call: Call, always errno: Int32?) {
        state.withLock { $0.always[call] = errno }
    }

    /// Makes one call of this kind fail, after so many that do not.
    package func fail(_ call: Call, after count: Int, with errno: Int32) {
        state.withLock { $0.faults[call] = Array(repeating: 0, count: count) + [errno] }
    }

    /// Runs something between bind and listen.
    package func beforeListening(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.beforeListening = body }
    }

    /// Lets one send take at most so many bytes.
    package func limitSends(to bytes: Int) {
        state.withLock { $0.longestSend = bytes }
    }

    /// Lets one receive give so many bytes at most.
    package func limitReceives(to bytes: Int) {
        state.withLock { $0.longestReceive = bytes }
    }

    /// How often a call was made.
    package func count(_ call: Call) -> Int {
        state.withLock { $0.counts[call, default: 0] }
    }

    /// Descriptors that were opened or accepted here and are not closed yet.
    package var openDescriptors: Set<Int32> { state.withLock { $0.open } }

    private func fault(_ call: Call) -> Int32? {
        state.withLock { state in
            state.counts[call, default: 0] += 1
            if let errno = state.always[call] { return errno }
            guard let first = state.faults[call]?.first else { return nil }
            state.faults[call]?.removeFirst()
            return first == 0 ? nil : first
        }
    }

    package func openStream(for address: SocketAddress) -> IOResult {
        let result = fault(.openStream).map { .failed(errno: $0) } ?? real.openStream(for: address)
        if case .bytes(let descriptor) = result { _ = state.withLock { $0.open.insert(Int32(descriptor)) } }
        return result
    }

    package func accept(_ listener: Int32) -> AcceptResult {
        let result = fault(.accept).map { .failed(errno: $0) } ?? real.accept(listener)
        if case .accepted(let descriptor, _) = result { _ = state.withLock { $0.open.insert(descriptor) } }
        return result
    }

    package func receive(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, peek: Bool
    ) -> IOResult {
        if let errno = fault(.receive) { return .failed(errno: errno) }
        let short = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(state.withLock { $0.longestReceive }))
        return real.receive(descriptor, into: short, peek: peek)
    }

    package func send(_ descriptor: Int32, _ buffers: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> IOResult {
        if let errno = fault(.send) { return .failed(errno: errno) }
        let longest = state.withLock { $0.longestSend }
        guard longest < Int.max, let first = buffers.first else { return real.send(descriptor, buffers) }
        let short = UnsafeRawBufferPointer(rebasing: first.prefix(longest))
        return withUnsafePointer(to: short) { real.send(descriptor, UnsafeBufferPointer(start: $0, count: 1)) }
    }

    package func openDatagram(for address: SocketAddress) -> IOResult {
        let result = fault(.openDatagram).map { .failed(errno: $0) } ?? real.openDatagram(for: address)
        if case .bytes(let descriptor) = result { _ = state.withLock { $0.open.insert(Int32(descriptor)) } }
        return result
    }

    package func receiveDatagrams(
        _ descriptor: Int32, into inbox: DatagramInbox, most: Int, limit: Int
    ) -> IOResult {
        fault(.receiveDatagrams).map(Self.result)
            ?? real.receiveDatagrams(descriptor, into: inbox, most: most, limit: limit)
    }

    package func sendDatagrams(
        _ descriptor: Int32, _ datagrams: UnsafeBufferPointer<OutgoingDatagram>
    ) -> IOResult {
        fault(.sendDatagrams).map(Self.result) ?? real.sendDatagrams(descriptor, datagrams)
    }

    private static func result(_ errno: Int32) -> IOResult { errno == EAGAIN ? .wouldBlock : .failed(errno: errno) }

    package func bind(_ descriptor: Int32, to address: SocketAddress) -> Int32 {
        if let errno = fault(.bind), errno != 0 { return errno }
        return real.bind(descriptor, to: address)
    }
    package func listen(_ descriptor: Int32, backlog: Int32) -> Int32 {
        state.withLock { $0.beforeListening }?()
        return real.listen(descriptor, backlog: backlog)
    }
    package func connect(_ descriptor: Int32, to address: SocketAddress) -> Int32 {
        real.connect(descriptor, to: address)
    }
    package func pendingError(_ descriptor: Int32) -> Int32 { fault(.pendingError) ?? real.pendingError(descriptor) }
    package func drainErrorQueue(_ descriptor: Int32) { real.drainErrorQueue(descriptor) }
    package func shutdownWrite(_ descriptor: Int32) -> Int32 { real.shutdownWrite(descriptor) }
    package func close(_ descriptor: Int32) {
        // Before the real one: from then on the number may be somebody else's.
        _ = state.withLock { $0.open.remove(descriptor) }
        real.close(descriptor)
    }
    package func set(_ option: SocketOption, on descriptor: Int32) -> Int32 { real.set(option, on: descriptor) }
    package func makeNonBlocking(_ descriptor: Int32) -> Int32 { real.makeNonBlocking(descriptor) }
    package func localAddress(_ descriptor: Int32) -> SocketAddress? { real.localAddress(descriptor) }
    package func peerAddress(_ descriptor: Int32) -> SocketAddress? { real.peerAddress(descriptor) }
    package func isListening(_ descriptor: Int32) -> Bool { real.isListening(descriptor) }
    package func isStream(_ descriptor: Int32) -> Bool { real.isStream(descriptor) }
    package func describe(_ descriptor: Int32, isTCP: Bool) -> KernelSnapshot {
        real.describe(descriptor, isTCP: isTCP)
    }
    package func dissolve(_ descriptor: Int32) -> Int32 { real.dissolve(descriptor) }
    package func describeDatagrams(_ descriptor: Int32) -> KernelSnapshot { real.describeDatagrams(descriptor) }
    package func removeSocketFile(_ path: String) -> Int32 { real.removeSocketFile(path) }
}
