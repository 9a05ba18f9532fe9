import SocketCore

/// Reads the threads of a process: what each one is waiting in, and for how long it has been idle.
struct ThreadReader {
    let system: HostSystem
    let process: Int32
    let rung: HostProcess.Rung
    let machine: SystemCall.Machine?

    /// An idle time above this is trusted only if the thread is still on the same CPU.
    private static let doubt = Duration.milliseconds(100)

    struct Outcome {
        var threads: [HostThread] = []
        /// Whether reading calls or their arguments was refused. If so, no thread has a call.
        var isRefused = false
    }

    func read(_ clocks: inout ProcessorClocks) -> Outcome {
        let folder = "/proc/\(process)/task"
        var stats: [(number: Int32, stat: ProcessStat)] = []
        for number in (try? system.numbers(folder)) ?? [] {
            if let stat = stat("\(folder)/\(number)") { stats.append((number, stat)) }
        }
        // A main thread that has ended stays until the others end, and has no memory.
        let alive = stats.filter { !$0.stat.hasEnded }
        if !alive.isEmpty { stats = alive }
        let isLed = alive.contains { $0.number == process }
        let memory = isLed ? process : alive.map(\.number).min() ?? process
        // Calibrate before the threads' own times are read, so that a thread that runs meanwhile appears to have just
        // run.
        clocks.calibrate(Set(stats.compactMap(\.stat.processor)), system)
        var outcome = Outcome()
        var asksForCalls = rung == .arguments
        for (number, stat) in stats.sorted(by: { $0.number < $1.number }) {
            let folder = "\(folder)/\(number)"
            // The thread may have ended.
            guard let now = self.stat(folder), now.start == stat.start else { continue }
            var thread = HostThread(number: number, name: now.command, state: now.state)
            time(&thread, folder, now, clocks)
            if rung >= .waitChannel {
                thread.waitChannel = system.text(folder + "/wchan", limit: 256).map(WaitChannel.name) ?? ""
            }
            if asksForCalls {
                do throws(HostSystem.Failure) {
                    thread.call = try call(folder, thread.waitChannel, memory)
                } catch {
                    guard error.isRefusal else { continue }
                    (asksForCalls, outcome.isRefused) = (false, true)
                }
            }
            outcome.threads.append(thread)
        }
        if outcome.isRefused { for index in outcome.threads.indices { outcome.threads[index].call = nil } }
        return outcome
    }

    private func stat(_ folder: String) -> ProcessStat? { system.text(folder + "/stat").flatMap(ProcessStat.init) }

    /// A thread that fell asleep and was then moved to another CPU has no time of its last run.
    private func time(_ thread: inout HostThread, _ folder: String, _ stat: ProcessStat, _ clocks: ProcessorClocks) {
        let schedule = ThreadSchedule(system.text(folder + "/sched") ?? [])
        thread.switches =
            schedule.switches ?? system.text(folder + "/status").map(ProcessStatus.init).flatMap(\.switches)
        thread.ran = schedule.ran.map { .nanoseconds($0) }
        if stat.state == UInt8(ascii: "R") {
            thread.idle = .zero
        } else if let ran = schedule.lastRun, ran > 0, let processor = stat.processor {
            thread.idle = clocks.idle(lastRun: ran, processor: processor, now: system.now())
            if let idle = thread.idle, idle > Self.doubt, self.stat(folder)?.processor != processor {
                thread.idle = nil
            }
        }
    }

    /// `memory` is a thread of the process that has its memory.
    private func call(
        _ folder: String, _ waitChannel: String, _ memory: Int32
    ) throws(HostSystem.Failure) -> HostCall? {
        let text = try system.read(folder + "/syscall", 0, 512)
        var refusal: HostSystem.Failure?
        let call = HostCall(text, waitChannel: waitChannel, machine: machine) { address, limit in
            do throws(HostSystem.Failure) { return try system.memory(memory, address, limit) } catch {
                if error.isRefusal { refusal = error }
                return []
            }
        }
        if let refusal { throw refusal }
        return call
    }
}
