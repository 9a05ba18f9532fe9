import CSocketKitSystem
import Glibc
import SocketCore

/// Calculates how long a thread has been idle.
///
/// The kernel records a thread's last run on its CPU's task clock. That clock stops while the hypervisor runs another
/// guest, so it differs between CPUs. A thread of this process that has just moved to a CPU finds that clock's current
/// time in its own record. The clock only falls further behind, so an old offset makes idle times too long. A snapshot of
/// a large or busy host can take seconds. An offset is therefore measured again after one second, which also limits the
/// error to about one second.
struct ProcessorClocks {
    /// How long an offset is used. Measuring waits for the CPU, so this must not be short on a busy host.
    private static let lifetime = Duration.seconds(1)

    private var offsets: [Int: Int64] = [:]
    private var measured: [Int: MonotonicTime] = [:]

    /// Measures the CPUs that have no recent offset. Some may be unavailable to this process.
    mutating func calibrate(_ processors: Set<Int>, _ system: HostSystem) {
        let now = system.now()
        let due = processors.filter { processor in measured[processor].map { now - $0 >= Self.lifetime } ?? true }
        guard !due.isEmpty else { return }
        for processor in due { (measured[processor], offsets[processor]) = (now, nil) }
        offsets.merge(system.clockOffsets(due.sorted())) { $1 }
    }

    /// Returns how long ago a thread ran, or `nil` if its CPU was not measured.
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
