import Glibc
import SocketCore

/// Descriptors that the kernel gives, and those it refuses because none is left.
extension EngineState {
    /// Opens a stream socket as the kernel does, and counts a refusal.
    func openStream(for address: SocketAddress) -> IOResult {
        counted(kernel.openStream(for: address))
    }

    /// Opens a datagram socket as the kernel does, and counts a refusal.
    func openDatagram(for address: SocketAddress) -> IOResult {
        counted(kernel.openDatagram(for: address))
    }

    private func counted(_ opened: IOResult) -> IOResult {
        if case .failed(let errno) = opened { refusedDescriptor(errno) }
        return opened
    }

    /// A call that should have given a descriptor failed: counts it where none was left.
    func refusedDescriptor(_ errno: Int32) {
        guard errno == EMFILE || errno == ENFILE else { return }
        counters.descriptorsRefused += 1
        meter.outOfDescriptors = now
    }
}
