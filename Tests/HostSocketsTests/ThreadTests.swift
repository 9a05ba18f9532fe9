import Glibc
import HostSockets
import SocketCore
import SocketTestSupport
import Testing

@Suite("Threads of programs", .serialized, .enabled(if: Asking.isAllowed), .timeLimit(.minutes(10)))
struct ThreadTests {
    private func process(_ observer: HostObserver, _ number: Int32) throws -> HostProcess? {
        var look = try observer.look()
        observer.examine(&look, process: number)
        return look.processes[number]
    }

    @Test("a thread that waits has been idle for as long as it has; a busy one has not")
    func idle() throws {
        let observer = HostObserver()
        let began = ContinuousClock.now
        let quiet = try RunningProgram(["sleep", "1000"])
        let busy = try RunningProgram(["sh", "-c", "while :; do :; done"])
        var thread: HostThread?
        #expect(
            try eventually {
                thread = try process(observer, quiet.process)?.threads.first
                // Before that it may wait for a page of its program.
                return thread?.idle ?? .zero >= .milliseconds(300) && thread?.call?.name == "clock_nanosleep"
            })
        // The clock of its CPU may stop for a moment after it was measured.
        #expect(try #require(thread?.idle) <= ContinuousClock.now - began + .milliseconds(100))
        #expect(thread?.call?.name == "clock_nanosleep" && thread?.call?.kind == .other)
        let switches = try #require(thread?.switches)
        #expect(try process(observer, quiet.process)?.threads.first?.switches == switches)
        #expect(
            try eventually {
                let thread = try process(observer, busy.process)?.threads.first
                return thread?.state == UInt8(ascii: "R") && thread?.idle == .zero && thread?.call?.kind == .running
            })
    }

    @Test("a stopped program is said to be stopped, and a restarted poll is a poll")
    func stopped() throws {
        let script = """
            import os, select, socket
            near, far = socket.socketpair()
            p = select.poll(); p.register(near, select.POLLIN)
            print(near.fileno(), flush=True)
            p.poll()
            """
        let program = try RunningProgram(["python3", "-c", script])
        let observer = HostObserver()
        func thread() throws -> HostThread? { try process(observer, program.process)?.threads.first }
        #expect(try eventually { try thread()?.call?.kind == .poll })
        kill(program.process, SIGSTOP)
        #expect(try eventually { try thread()?.isStopped == true })
        kill(program.process, SIGCONT)
        let descriptor = Int32(program.text.prefix { $0 != "\n" })
        #expect(
            try eventually {
                guard let thread = try thread(), thread.state == UInt8(ascii: "S"), let call = thread.call else {
                    return false
                }
                return call.kind == .poll && call.reads == [descriptor]
            })
    }

    /// A cgroup of version 2 or 1 for a process, where a test may make one.
    private static func freeze(_ process: Int32) -> (folder: String, file: String)? {
        for (root, file, word) in [
            ("/sys/fs/cgroup", "cgroup.freeze", "1"), ("/sys/fs/cgroup/freezer", "freezer.state", "FROZEN"),
        ] {
            let folder = root + "/socktui-test-\(process)"
            guard access(root + "/cgroup.procs", W_OK) == 0, mkdir(folder, 0o755) == 0 else { continue }
            if write("\(process)", folder + "/cgroup.procs"), write(word, folder + "/" + file) {
                return (folder, folder + "/" + file)
            }
            rmdir(folder)
        }
        return nil
    }

    private static func write(_ text: String, _ path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        defer { if file >= 0 { close(file) } }
        return file >= 0 && Glibc.write(file, text, text.utf8.count) == text.utf8.count
    }

    @Test("a program in a frozen cgroup is said to be frozen")
    func frozen() throws {
        let observer = HostObserver()
        let program = try RunningProgram(["sleep", "1000"])
        #expect(try process(observer, program.process)?.isFrozen == false)
        // Without root there is no cgroup to make.
        guard let (folder, file) = Self.freeze(program.process) else { return }
        let isFrozen = try eventually {
            try process(observer, program.process)?.isFrozen == true
        }
        #expect(isFrozen)
        #expect(Self.write(file.hasSuffix("state") ? "THAWED" : "0", file))
        let isThawed = try eventually {
            try process(observer, program.process)?.isFrozen == false
        }
        #expect(isThawed)
        program.stop()
        #expect(eventually { rmdir(folder) == 0 })
    }

    @Test("what an epoll set listens for, and which of its sockets do not block")
    func sets() throws {
        let script = """
            import select, socket
            near, far = socket.socketpair()
            far.setblocking(False)
            s = select.epoll()
            s.register(near, select.EPOLLIN | select.EPOLLET)
            s.register(far, select.EPOLLOUT | select.EPOLLONESHOT)
            inner = select.epoll(); s.register(inner, select.EPOLLIN)
            print(near.fileno(), far.fileno(), s.fileno(), inner.fileno(), "ready", flush=True)
            while True: select.select([], [], [])
            """
        let program = try RunningProgram(["python3", "-c", script])
        #expect(eventually { program.text.contains("ready") })
        let numbers = program.text.split(separator: " ").compactMap { Int32($0) }
        try #require(numbers.count == 4)
        let process = try #require(try process(HostObserver(), program.process))
        let entries = try #require(process.pollSets[numbers[2]] ?? nil)
        let byDescriptor = Dictionary(uniqueKeysWithValues: entries.map { ($0.descriptor, $0) })
        let near = try #require(byDescriptor[numbers[0]])
        #expect(near.listensForInput && near.isEdgeTriggered && !near.listensForOutput && !near.isOneShot)
        #expect(near.inode == process.sockets[numbers[0]])
        let far = byDescriptor[numbers[1]]
        #expect(far?.inode == process.sockets[numbers[1]] && process.nonBlocking.contains(numbers[1]))
        #expect(!process.nonBlocking.contains(numbers[0]) && !process.keptOverExec.contains(numbers[0]))
        #expect(byDescriptor[numbers[3]]?.listensForInput == true)
        #expect(process.pollSets[numbers[3]]??.isEmpty == true)
        #expect(process.executable?.hasPrefix("python3") == true && !process.isGo && !process.isFrozen)
        #expect(process.user == geteuid() && process.parent == getpid() && process.age ?? .seconds(-1) >= .zero)
    }
}
