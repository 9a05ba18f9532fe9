import Dispatch
import Glibc
import SocketKit
import SocketRecords

/// Captures packets on its own thread.
package final class PacketFeed: Sendable {
    /// What the feed reports, on its thread.
    package enum News: Sendable {
        case packets([CapturedPacket])
        case counts(CaptureCounts)
        /// The capture has ended. The value is the reason, or `nil` if it was stopped.
        case ended(String?)
    }

    private struct State {
        var sink: (@Sendable (News) -> Void)?
        var isStopping = false
        /// The link type of the interface's packets, or the reason why they can't be captured.
        var outcome: Result<UInt16, AttachError> = .failure(AttachError(sentence: "no thread"))
    }

    private final class Control: Sendable {
        let state = Lock(State())
        let isOpened = DispatchSemaphore(value: 0)
        let mayRun = DispatchSemaphore(value: 0)
        let hasEnded = DispatchSemaphore(value: 0)
    }

    private let control = Control()
    /// The link type of its packets: a `LinkType`.
    package let link: UInt16

    /// The most packets reported at once.
    private static let batch = 512

    /// Opens the capture and waits until the kernel has answered. Packets wait in the kernel until `start`.
    /// - Throws: a sentence that says why the capture can't start.
    package init(_ target: CaptureTarget) throws(AttachError) {
        let control = control
        DispatchQueue(label: "capture \(target.interface)", qos: .userInitiated).async { @Sendable in
            Self.run(target, control)
        }
        control.isOpened.wait()
        link = try control.state.withLock { $0.outcome }.get()
    }

    /// Starts reporting.
    package func start(_ sink: @escaping @Sendable (News) -> Void) {
        control.state.withLock { $0.sink = sink }
        control.mayRun.signal()
    }

    /// Reads the packets captured until now, and ends. Takes a fifth of a second, or returns at once if `start` was not
    /// called.
    package func stop() {
        control.state.withLock { $0.isStopping = true }
        control.mayRun.signal()
        if control.hasEnded.wait(timeout: .now() + .seconds(1)) == .success { control.hasEnded.signal() }
    }

    private static func run(_ target: CaptureTarget, _ control: Control) {
        defer { control.hasEnded.signal() }
        do throws(AttachError) {
            var pcap = try Pcap(target)
            control.state.withLock { $0.outcome = .success(pcap.link) }
            control.isOpened.signal()
            control.mayRun.wait()
            guard let sink = control.state.withLock({ $0.sink }) else { return }
            do throws(AttachError) {
                try tell(&pcap, control, sink)
                sink(.ended(nil))
            } catch {
                sink(.ended(error.sentence))
            }
        } catch {
            control.state.withLock { $0.outcome = .failure(error) }
            control.isOpened.signal()
        }
    }

    private static func tell(
        _ pcap: inout Pcap, _ control: Control, _ sink: (News) -> Void
    ) throws(AttachError) {
        var end: ContinuousClock.Instant?
        func isStopping() -> Bool { control.state.withLock { $0.isStopping } }
        while end.map({ .now < $0 }) ?? true {
            // libpcap delivers the latest packets a moment later.
            if end == nil, isStopping() { end = .now + Pcap.patience * 3 / 2 }
            var polled = pollfd(fd: pcap.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&polled, 1, Int32(Pcap.patience.wholeNanoseconds / 1_000_000))
            var packets: [CapturedPacket] = []
            repeat {
                packets.removeAll(keepingCapacity: true)
                while packets.count < batch, let packet = try pcap.next() { packets.append(packet) }
                if !packets.isEmpty { sink(.packets(packets)) }
                let before = pcap.counts
                pcap.count()
                if pcap.counts != before { sink(.counts(pcap.counts)) }
                // Packets may arrive faster than they can be read.
            } while packets.count == batch && (end.map { .now < $0 } ?? !isStopping())
        }
    }
}
