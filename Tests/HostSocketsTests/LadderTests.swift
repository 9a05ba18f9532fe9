import Glibc
import HostSockets
import SocketCore
import SocketTestSupport
import Synchronization
import Testing

/// The host, of which some calls are refused, and how often each was tried.
private final class Refusals: Sendable {
    let tries = Mutex<[String: Int]>([:])

    func note(_ what: String) { tries.withLock { $0[what, default: 0] += 1 } }
    func count(_ what: String) -> Int { tries.withLock { $0[what] ?? 0 } }

    /// - Parameter ends: paths of files of other processes that may not be read, by how they end.
    /// - Parameter texts: files that hold something else.
    func system(
        _ ends: [String] = [], memory: Bool = false, folders: Bool = false, texts: [String: String] = [:]
    ) -> HostSystem {
        var system = HostSystem.live
        system.read = { path, offset, limit throws(HostSystem.Failure) in
            if let text = texts[path] { return Array(text.utf8) }
            if let end = ends.first(where: path.hasSuffix) {
                self.note(end)
                throw HostSystem.Failure(EPERM)
            }
            return try HostSystem.live.read(path, offset, limit)
        }
        if memory {
            system.memory = { _, _, _ throws(HostSystem.Failure) in
                self.note("memory")
                throw HostSystem.Failure(EPERM)
            }
        }
        if folders {
            system.numbers = { path throws(HostSystem.Failure) in
                if path.hasSuffix("/fd") {
                    self.note(path)
                    throw HostSystem.Failure(EACCES)
                }
                return try HostSystem.live.numbers(path)
            }
        }
        return system
    }
}

@Suite("The ladder of permissions", .serialized, .enabled(if: Asking.isAllowed), .timeLimit(.minutes(10)))
struct LadderTests {
    private let program: RunningProgram

    init() throws {
        program = try Asking.start().program
    }

    /// Looks several times, until all threads of the program sleep, and returns the last look at it.
    private func look(_ system: HostSystem, readsCalls: Bool = true) throws -> (HostLook, HostProcess) {
        let observer = HostObserver(system, readsCalls: readsCalls)
        var look = try observer.look()
        var looks = 0
        _ = try eventually {
            look = try observer.look()
            observer.examine(&look, process: program.process)
            looks += 1
            let threads = look.processes[program.process]?.threads ?? []
            let isAsleep = threads.allSatisfy { $0.state == UInt8(ascii: "S") && $0.idle != nil }
            return looks > 3 && threads.count >= 12 && isAsleep
        }
        return (look, try #require(look.processes[program.process]))
    }

    private func expectWaits(_ process: HostProcess) {
        #expect(process.rung == .waitChannel)
        #expect(process.threads.count >= 12 && process.threads.allSatisfy { $0.call == nil })
        #expect(process.threads.allSatisfy { $0.idle != nil && $0.switches != nil })
        // Functions of the kernel have other names in other versions of it.
        let channels = Set(process.threads.map(\.waitChannel))
        #expect(channels.count >= 5 && !channels.contains(""), "\(channels)")
        #expect(process.pollSets.values.contains { $0?.isEmpty == false })
    }

    @Test("a refused call is asked for once, and wait channels tell the kind of wait")
    func refusedCalls() throws {
        let refusals = Refusals()
        let (look, process) = try look(refusals.system(["/syscall"]))
        expectWaits(process)
        #expect(refusals.count("/syscall") == 1)
        #expect(look.hidden.calls == 1 && look.hidden.reason == "refused")
        #expect(look.hidden.withoutCalls == [program.process])
    }

    @Test("where memory is refused, no call is told with half its arguments")
    func refusedMemory() throws {
        let refusals = Refusals()
        let (look, process) = try look(refusals.system(memory: true))
        expectWaits(process)
        #expect(refusals.count("memory") == 1)
        #expect(look.hidden.calls == 1)
    }

    @Test("under ptrace_scope 1 nothing is tried, and the reason is told")
    func traceScope() throws {
        let refusals = Refusals()
        let status = "Name:\ta\nUid:\t\(geteuid())\t\(geteuid())\t\(geteuid())\t0\nCapEff:\t0000000000000000\n"
        let texts = ["/proc/sys/kernel/yama/ptrace_scope": "1\n", "/proc/self/status": status]
        let (look, process) = try look(refusals.system(["/syscall"], memory: true, texts: texts))
        expectWaits(process)
        #expect(refusals.count("/syscall") == 0 && refusals.count("memory") == 0)
        #expect(look.hidden.reason == "ptrace_scope 1")
    }

    @Test("under ptrace_scope 3 nothing is tried by root either")
    func noTracing() throws {
        let refusals = Refusals()
        let texts = ["/proc/sys/kernel/yama/ptrace_scope": "3\n"]
        let (look, process) = try look(refusals.system(["/syscall"], memory: true, texts: texts))
        expectWaits(process)
        #expect(refusals.count("/syscall") == 0 && refusals.count("memory") == 0)
        #expect(look.hidden.reason == "ptrace_scope 3")
    }

    @Test("without calls, none is read")
    func noCalls() throws {
        let refusals = Refusals()
        let (look, process) = try look(refusals.system(["/syscall"], memory: true), readsCalls: false)
        expectWaits(process)
        #expect(refusals.count("/syscall") == 0)
        #expect(look.hidden.reason == "--no-calls")
    }

    @Test("descriptors that are refused are asked for once; idle times are still known")
    func refusedDescriptors() throws {
        let refusals = Refusals()
        let (look, process) = try look(refusals.system(folders: true))
        #expect(process.rung == .queues && process.sockets.isEmpty && process.pollSets.isEmpty)
        #expect(refusals.count("/proc/\(program.process)/fd") == 1)
        #expect(look.hidden.processes >= 1)
        #expect(process.threads.count >= 12)
        #expect(process.threads.allSatisfy { $0.call == nil && $0.waitChannel.isEmpty && $0.idle != nil })
    }

    @Test("a process of another user is not tried at all by one who may not look")
    func otherUser() throws {
        let refusals = Refusals()
        let status = "Name:\ta\nUid:\t4242\t4242\t4242\t0\nCapEff:\t0000000000000000\n"
        let (look, process) = try look(
            refusals.system(["/syscall"], folders: true, texts: ["/proc/self/status": status]))
        #expect(process.rung == .queues)
        #expect(refusals.tries.withLock { $0.isEmpty })
        #expect(look.hidden.processes >= 1)
    }

    @Test("a kernel that does not answer is a clear error")
    func noAnswer() throws {
        var system = HostSystem.live
        system.openDiagnosis = { _ throws(HostSystem.Failure) in throw HostSystem.Failure(EPERM) }
        let problem = #expect(throws: HostObserver.Problem.self) { try HostObserver(system).look() }
        #expect(
            problem?.sentence == "the kernel does not list TCP over IPv4 (sock_diag): Operation not permitted")
        #expect(problem?.isPassing == false)
        system.openDiagnosis = { _ throws(HostSystem.Failure) in throw HostSystem.Failure(EMFILE) }
        let passing = #expect(throws: HostObserver.Problem.self) { try HostObserver(system).look() }
        #expect(passing?.isPassing == true)
    }
}
