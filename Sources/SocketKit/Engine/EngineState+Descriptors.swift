import Glibc
import SocketCore

/// Descriptors that the kernel opens, and refusals because none is left.
extension EngineState {
    /// Starts the reactor if that failed before, because no descriptor or thread was left. Throws if it fails again.
    func checkReactor(_ operation: String) throws(SocketError) {
        guard let start = startReactor else { return }
        let failure = start()
        guard failure == 0 else {
            refusedDescriptor(failure)
            throw .system(failure, operation: operation, subject: "engine \(configuration.name)")
        }
        (startReactor, armedDeadline) = (nil, nil)
        armTimer()
    }

    /// Opens a stream socket, and counts a refusal.
    func openStream(for address: SocketAddress) -> IOResult {
        counted(kernel.openStream(for: address))
    }

    /// Opens a datagram socket, and counts a refusal.
    func openDatagram(for address: SocketAddress) -> IOResult {
        counted(kernel.openDatagram(for: address))
    }

    private func counted(_ opened: IOResult) -> IOResult {
        if case .failed(let errno) = opened { refusedDescriptor(errno) }
        return opened
    }

    /// Counts a call that should have returned a descriptor, if it failed because none was left.
    func refusedDescriptor(_ errno: Int32) {
        guard errno == EMFILE || errno == ENFILE else { return }
        counters.descriptorsRefused += 1
        meter.outOfDescriptors = now
    }
}
