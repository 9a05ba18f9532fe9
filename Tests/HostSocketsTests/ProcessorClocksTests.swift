import SocketCore
import Synchronization
import Testing

@testable import HostSockets

@Suite("Idle times and the processors' clocks")
struct ProcessorClocksTests {
    /// A processor's clock. Times are in nanoseconds.
    private final class Processor: Sendable {
        let now = Atomic<Int64>(1_000_000_000)
        /// For how long its clock has stood still, or negative if it cannot be measured.
        let stopped = Atomic<Int64>(0)
        let measurements = Atomic<Int>(0)

        var system: HostSystem {
            var system = HostSystem.live
            system.now = { MonotonicTime(nanoseconds: self.now.load(ordering: .relaxed)) }
            system.clockOffsets = { processors in
                self.measurements.add(1, ordering: .relaxed)
                let stopped = self.stopped.load(ordering: .relaxed)
                return stopped < 0 ? [:] : Dictionary(uniqueKeysWithValues: processors.map { ($0, stopped) })
            }
            return system
        }

        func pass(_ time: Int64, stopping: Bool) {
            now.add(time, ordering: .relaxed)
            if stopping { stopped.add(time, ordering: .relaxed) }
        }
    }

    @Test("an offset is used for a second; the time in which the clock stood still is not idle time")
    func measuredAgain() {
        let processor = Processor()
        let system = processor.system
        var clocks = ProcessorClocks()
        clocks.calibrate([0], system)
        processor.pass(50_000_000, stopping: false)
        clocks.calibrate([0], system)
        #expect(processor.measurements.load(ordering: .relaxed) == 1)
        #expect(clocks.idle(lastRun: 1_000_000_000, processor: 0, now: system.now()) == .milliseconds(50))
        processor.pass(6_000_000_000, stopping: true)
        clocks.calibrate([0], system)
        #expect(clocks.idle(lastRun: 1_000_000_000, processor: 0, now: system.now()) == .milliseconds(50))
        // A processor that may no longer be measured tells nothing.
        processor.stopped.store(-1, ordering: .relaxed)
        processor.pass(1_000_000_000, stopping: false)
        clocks.calibrate([0], system)
        #expect(clocks.idle(lastRun: 1_000_000_000, processor: 0, now: system.now()) == nil)
    }
}
