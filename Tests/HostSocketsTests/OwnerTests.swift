import Glibc
import HostSockets
import SocketCore
import SocketTestSupport
import Synchronization
import Testing

@Suite("Who has a socket", .serialized, .timeLimit(.minutes(10)))
struct OwnerTests {
    /// A pair of connected sockets of this process.
    private struct Pair {
        var near: Int32
        var far: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            (near, far) = (ends[0], ends[1])
        }
    }

    private static func inode(_ descriptor: Int32) -> UInt64 {
        var facts = stat()
        return fstat(descriptor, &facts) == 0 ? UInt64(facts.st_ino) : 0
    }

    private func owners(_ observer: HostObserver, _ inode: UInt64, onlyOurs: Bool = true) throws -> [HostLook.Owner] {
        var look = try observer.look()
        observer.examine(&look, inodes: [inode], reads: false)
        // Programs that other tests start may inherit what has no O_CLOEXEC.
        return (look.owners[inode] ?? []).filter { !onlyOurs || $0.process == getpid() }
    }

    @Test("a descriptor that is reused is never taken for the socket that it was")
    func descriptorReuse() throws {
        let observer = HostObserver()
        let (first, second) = try (Pair(), Pair())
        let (old, new) = (Self.inode(first.near), Self.inode(second.near))
        let owner = HostLook.Owner(process: getpid(), descriptor: first.near)
        #expect(try owners(observer, old) == [owner])
        dup2(second.near, first.near)
        #expect(try owners(observer, old) == [])
        #expect(try eventually { try owners(observer, new).contains(owner) })
        for descriptor in [first.near, first.far, second.near, second.far] { close(descriptor) }
        #expect(try owners(observer, new) == [])
    }

    @Test("a child that inherits a socket is found though its owner was known")
    func inheritance() throws {
        let observer = HostObserver()
        let pair = try Pair()
        let inode = Self.inode(pair.near)
        #expect(try owners(observer, inode).count == 1)
        let child = try HoldingProcess(pair.near)
        defer { child.kill() }
        #expect(
            try eventually {
                try owners(observer, inode, onlyOurs: false).contains { $0.process != getpid() && $0.descriptor == 0 }
            })
        // It may still be starting, and children of other tests have what this process has until they execute a program.
        var look = try observer.look()
        let isFound = try eventually {
            look = try observer.look()
            observer.examine(&look, inodes: [inode], reads: true)
            return look.processes.values.contains { holder in
                holder.name == "sleep" && holder.keptOverExec == [0] && holder.parent == getpid()
                    && holder.threads.map(\.call?.name) == ["clock_nanosleep"]
            }
        }
        #expect(isFound, "\(look.processes)")
        #expect(look.processes[getpid()]?.keptOverExec == [])
        close(pair.near)
        close(pair.far)
    }

    @Test("a process whose main thread has ended still owns what its other threads have")
    func survivingThread() throws {
        // exit(2) ends the calling thread only.
        let script = """
            import ctypes, platform, socket, threading
            kept = socket.create_server(("127.0.0.1", 0))
            threading.Thread(target=threading.Event().wait, args=(3600,)).start()
            print(kept.fileno(), flush=True)
            ctypes.CDLL(None).syscall(60 if platform.machine() == "x86_64" else 93, 0)
            """
        let program = try RunningProgram(["python3", "-c", script])
        let stat = "/proc/\(program.process)/stat"
        #expect(
            eventually {
                ProcessStat((try? HostSystem.live.read(stat, 0, 4_096)) ?? [])?.state == UInt8(ascii: "Z")
            }, "\(program.text)")
        let descriptor = try #require(program.text.split(separator: "\n").first.flatMap { Int32($0) })
        let observer = HostObserver()
        var look = try observer.look()
        observer.examine(&look, process: program.process)
        let found = try #require(look.processes[program.process])
        let inode = try #require(found.sockets[descriptor])
        #expect(found.state != UInt8(ascii: "Z") && found.name != "" && found.user == geteuid())
        #expect(found.executable?.hasPrefix("python") == true)
        #expect(
            found.threads.map(\.state) == [UInt8(ascii: "S")]
                && !found.threads.contains { $0.number == program.process })
        // As for any socket, it is found by its inode too.
        let second = HostObserver()
        look = try second.look()
        second.examine(&look, inodes: [inode], reads: false)
        #expect(look.owners[inode]?.map(\.process) == [program.process])
    }

    @Test("a process number that is reused is never taken for the process that it was")
    func processReuse() throws {
        let isOther = Mutex(false)
        let (program, lines) = try Asking.start()
        let path = "/proc/\(program.process)/stat"
        var system = HostSystem.live
        // As if it had begun one tick later.
        system.read = { name, offset, limit throws(HostSystem.Failure) in
            let text = try HostSystem.live.read(name, offset, limit)
            guard name == path, isOther.withLock({ $0 }), let end = text.lastIndex(of: UInt8(ascii: ")")) else {
                return text
            }
            var fields = text[(end + 2)...].split(separator: UInt8(ascii: " ")).map {
                String(decoding: $0, as: UTF8.self)
            }
            fields[19] = "\((UInt64(fields[19]) ?? 0) + 1)"
            return text[...(end + 1)] + Array(fields.joined(separator: " ").utf8)
        }
        let observer = HostObserver(system)
        var look = try observer.look()
        observer.examine(&look, process: program.process)
        let first = try #require(look.processes[program.process])
        let inode = try #require(first.sockets[lines[0].descriptor])
        isOther.withLock { $0 = true }
        look = try observer.look()
        observer.examine(&look, inodes: [inode], reads: false)
        #expect(look.owners[inode]?.map(\.process) == [program.process])
        #expect(look.processes[program.process]?.id.start == first.id.start + 1)
        program.stop()
        look = try observer.look()
        observer.examine(&look, inodes: [inode], reads: false)
        #expect(look.owners[inode] == nil && look.processes.isEmpty && look.hidden.sockets == 1)
        #expect(!observer.examine(&look, process: program.process))
    }

    @Test("a process of which another one has the number by the time its threads were read is not told")
    func processReusedMeanwhile() throws {
        let isOther = Mutex(false)
        let (program, _) = try Asking.start()
        let folder = "/proc/\(program.process)"
        var system = HostSystem.live
        system.numbers = { path throws(HostSystem.Failure) in
            if path == folder + "/task" { isOther.withLock { $0 = true } }
            return try HostSystem.live.numbers(path)
        }
        system.read = { path, offset, limit throws(HostSystem.Failure) in
            if path == folder + "/stat", isOther.withLock({ $0 }) { throw HostSystem.Failure(ENOENT) }
            return try HostSystem.live.read(path, offset, limit)
        }
        let observer = HostObserver(system)
        var look = try observer.look()
        observer.examine(&look, process: program.process)
        #expect(look.processes[program.process] == nil)
    }

    @Test("with a budget, processes are looked at in turn")
    func turns() throws {
        let (first, second) = try (Asking.start(), Asking.start())
        let programs = [first.program.process, second.program.process]
        let observer = HostObserver()
        var look = try observer.look()
        var inodes: Set<UInt64> = []
        for (program, line) in zip(programs, [first.lines[0], second.lines[0]]) {
            observer.examine(&look, process: program)
            if let inode = look.processes[program]?.sockets[line.descriptor] { inodes.insert(inode) }
        }
        var seen: [[Int32]] = []
        for _ in 0..<4 {
            look = try observer.look()
            observer.examine(&look, inodes: inodes, reads: true, budget: .zero)
            seen.append(look.processes.keys.sorted())
        }
        #expect(seen.allSatisfy { $0.count == 1 } && seen[0] == seen[2] && seen[1] == seen[3] && seen[0] != seen[1])
    }

    @Test("all owners are found bit by bit")
    func bitByBit() throws {
        let observer = HostObserver()
        let pair = try Pair()
        let inode = Self.inode(pair.far)
        let owner = HostLook.Owner(process: getpid(), descriptor: pair.far)
        var look = try observer.look()
        #expect(
            eventually {
                observer.tellOwners(of: &look, budget: .zero)
                return look.owners[inode] == [owner]
            })
        #expect(look.processes[getpid()]?.sockets[pair.far] == inode)
        close(pair.near)
        close(pair.far)
    }

    @Test("a process is found by the name that it is shown under")
    func names() throws {
        let folder = try TemporaryFolder()
        folder.write("import signal\nsignal.pause()\n", to: "quiet-program-\(getpid()).py")
        let name = "quiet-program-\(getpid()).py"
        let program = try RunningProgram(["python3", folder.path + "/" + name, "--password", "secret"])
        let observer = HostObserver()
        var found: [HostProcess] = []
        #expect(
            eventually {
                found = observer.processes(named: name)
                return found.map(\.id.number) == [program.process]
            })
        #expect(found.first?.title == "\(name)[\(program.process)]")
        #expect(observer.processes(named: "no-such-program-\(getpid())").isEmpty)
    }
}
