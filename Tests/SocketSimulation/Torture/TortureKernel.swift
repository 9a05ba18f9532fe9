import Glibc
import SocketKit

/// A kernel in front of another one, that lets one call fail.
package final class TortureKernel: Kernel {
    private let real: any Kernel
    private let counter: TortureCounter

    init(_ real: any Kernel, counter: TortureCounter) {
        self.real = real
        self.counter = counter
    }

    /// The errno to answer with; nil: the call goes through.
    private func errno(_ call: TortureCall) -> Int32? {
        if case .errno(let errno) = counter.count(call) { errno } else { nil }
    }

    /// Whether the kernel shall have nothing to say.
    private func isSilent(_ call: TortureCall) -> Bool { counter.count(call) == .nothing }

    package func openStream(for address: SocketAddress) -> IOResult {
        errno(.openStream).map { .failed(errno: $0) } ?? real.openStream(for: address)
    }

    package func openDatagram(for address: SocketAddress) -> IOResult {
        errno(.openDatagram).map { .failed(errno: $0) } ?? real.openDatagram(for: address)
    }

    package func receiveDatagrams(
        _ descriptor: Int32, into inbox: DatagramInbox, most: Int, limit: Int
    ) -> IOResult {
        switch counter.count(.receiveDatagrams) {
        case .errno(let errno): .failed(errno: errno)
        case .wouldBlock: .wouldBlock
        case .oneByte, .nothing, nil: real.receiveDatagrams(descriptor, into: inbox, most: most, limit: limit)
        }
    }

    package func sendDatagrams(
        _ descriptor: Int32, _ datagrams: UnsafeBufferPointer<OutgoingDatagram>
    ) -> IOResult {
        switch counter.count(.sendDatagrams) {
        case .errno(let errno): .failed(errno: errno)
        case .wouldBlock: .wouldBlock
        case .oneByte, .nothing, nil: real.sendDatagrams(descriptor, datagrams)
        }
    }

    package func dissolve(_ descriptor: Int32) -> Int32 { errno(.dissolve) ?? real.dissolve(descriptor) }

    package func describeDatagrams(_ descriptor: Int32) -> KernelSnapshot {
        isSilent(.describeDatagrams) ? KernelSnapshot() : real.describeDatagrams(descriptor)
    }

    package func bind(_ descriptor: Int32, to address: SocketAddress) -> Int32 {
        errno(.bind) ?? real.bind(descriptor, to: address)
    }

    package func listen(_ descriptor: Int32, backlog: Int32) -> Int32 {
        errno(.listen) ?? real.listen(descriptor, backlog: backlog)
    }

    package func connect(_ descriptor: Int32, to address: SocketAddress) -> Int32 {
        errno(.connect) ?? real.connect(descriptor, to: address)
    }

    package func pendingError(_ descriptor: Int32) -> Int32 { errno(.pendingError) ?? real.pendingError(descriptor) }

    package func accept(_ listener: Int32) -> AcceptResult {
        switch counter.count(.accept) {
        case .errno(let errno): .failed(errno: errno)
        case .wouldBlock: .wouldBlock
        case .oneByte, .nothing, nil: real.accept(listener)
        }
    }

    package func receive(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, peek: Bool
    ) -> IOResult {
        switch counter.count(peek ? .peek : .receive) {
        case .errno(let errno): return .failed(errno: errno)
        case .wouldBlock: return .wouldBlock
        case .oneByte:
            let short = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(1))
            return real.receive(descriptor, into: short, peek: peek)
        case .nothing, nil: return real.receive(descriptor, into: buffer, peek: peek)
        }
    }

    package func send(_ descriptor: Int32, _ buffers: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> IOResult {
        switch counter.count(.send) {
        case .errno(let errno): return .failed(errno: errno)
        case .wouldBlock: return .wouldBlock
        case .oneByte:
            let short = UnsafeRawBufferPointer(rebasing: buffers[0].prefix(1))
            return withUnsafePointer(to: short) { real.send(descriptor, UnsafeBufferPointer(start: $0, count: 1)) }
        case .nothing, nil: return real.send(descriptor, buffers)
        }
    }

    package func shutdownWrite(_ descriptor: Int32) -> Int32 { errno(.shutdownWrite) ?? real.shutdownWrite(descriptor) }

    /// close(2) is final, whatever it answers: it cannot fail.
    package func close(_ descriptor: Int32) { real.close(descriptor) }

    package func set(_ option: SocketOption, on descriptor: Int32) -> Int32 {
        errno(.set) ?? real.set(option, on: descriptor)
    }

    package func makeNonBlocking(_ descriptor: Int32) -> Int32 {
        errno(.makeNonBlocking) ?? real.makeNonBlocking(descriptor)
    }

    package func localAddress(_ descriptor: Int32) -> SocketAddress? {
        isSilent(.localAddress) ? nil : real.localAddress(descriptor)
    }

    package func peerAddress(_ descriptor: Int32) -> SocketAddress? {
        isSilent(.peerAddress) ? nil : real.peerAddress(descriptor)
    }

    package func isStream(_ descriptor: Int32) -> Bool { !isSilent(.isStream) && real.isStream(descriptor) }

    package func describe(_ descriptor: Int32, isTCP: Bool) -> KernelSnapshot {
        isSilent(.describe) ? KernelSnapshot() : real.describe(descriptor, isTCP: isTCP)
    }

    package func removeSocketFile(_ path: String) -> Int32 { errno(.removeSocketFile) ?? real.removeSocketFile(path) }
}

/// A reactor in front of another one, that lets one watch fail.
package final class TortureReactor: Reactor {
    private let real: any Reactor
    private let counter: TortureCounter

    init(_ real: any Reactor, counter: TortureCounter) {
        self.real = real
        self.counter = counter
    }

    package func start(_ turn: @escaping @Sendable ([Readiness]) -> Void) -> Int32 { real.start(turn) }

    package func add(_ descriptor: Int32, _ interest: Interest, _ token: ReactorToken) -> Int32 {
        if case .errno(let errno) = counter.count(.watch) { return errno }
        return real.add(descriptor, interest, token)
    }

    package func modify(_ descriptor: Int32, _ interest: Interest, _ token: ReactorToken) -> Int32 {
        if case .errno(let errno) = counter.count(.changeWatch) { return errno }
        return real.modify(descriptor, interest, token)
    }

    package func remove(_ descriptor: Int32) { real.remove(descriptor) }
    package func wake(at deadline: MonotonicTime?) { real.wake(at: deadline) }
    package func stop() { real.stop() }
}
