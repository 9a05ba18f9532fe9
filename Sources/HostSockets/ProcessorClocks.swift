import CSocketKitSystem
import Glibc
import SocketCore

/// Tells since when a thread has not run.
///
/// The kernel notes when it last ran by the clock of its CPU's tasks, which stands still while the machine is given to
/// another guest, and so differs from CPU to CPU. What a thread of our own finds there, right after it came to that CPU, is
/// now. Since such a clock only falls behind, an old difference would make idle times too long: it is measured again for
/// each look.
struct ProcessorClocks {
    private var offsets: [Int: Int64] = [:]
    private var asked: Set<Int> = []

    /// Measures those of these CPUs that were not measured yet. Some may be closed to this process.
    mutating func calibrate(_ processors: Set<Int>, _ system: HostSystem) {
        let new = processors.subtracting(asked)
        guard !new.isEmpty else { return }
        asked.formUnion(new)
        offsets.merge(system.clockOffsets(new.sorted())) { $1 }
    }

    /// How long ago a thread ran; `nil` if its CPU was not measured.
    func idle(lastRun: Int64, processor: Int, now: MonotonicTime) -> Duration? {
        guard let offset = offsets[processor] else { return nil }
        return max(.zero, .nanoseconds(now.nanoseconds &- lastRun &- offset))
    }

    @Sendable static func measure(_ processors: [Int]) -> [Int: Int64] {
        OwnThread.run {
            var found: [Int: Int64] = [:]
            for processor in processors where csystem_stay_on_processor(Int32(clamping: processor)) == 0 {
                guard let text = HostSystem.live.text("/proc/thread-self/sched"),
                    let ran = ThreadSchedule(text).lastRun
                else { continue }
                found[processor] = HostSystem.live.now().nanoseconds - ran
            }
            return found
        } ?? [:]
    }
}
