import Glibc
import HostSockets
import InspectorCore
import SocketCore
import SocketKit
import SocketRecords

/// The far end of a view of several hosts: looks at its host again and again, and writes what it saw to standard output.
/// It sends facts, and no verdicts, payload or files. What it is asked comes from standard input.
package struct AgentRun {
    private var watch = HostWatch(HostOptions(), LintSettings())
    private var writer = HostUpdateWriter()
    private var pace = LookPace()
    private var reader = AgentAskReader()
    private var ask = AgentAsk()
    private var output: [UInt8] = []
    private var written = 0
    /// The number of the last look that was sent.
    private var sent: UInt64 = 0
    private let clock = SystemClock()
    private var heard: MonotonicTime
    private var nextLook: MonotonicTime

    /// The agent ends if nothing is heard of its viewer for this long.
    private static let silence = Duration.seconds(30)
    private static let stream = StandardStream.output.rawValue
    private static let mostUntaken: UInt64 = 2
    private static let ownersBudget = Duration.milliseconds(300)

    private init() { (heard, nextLook) = (clock.now, clock.now) }

    /// Runs until the viewer is gone. Returns the exit status.
    package static func run(version: String) -> Int32 {
        guard !StandardStream.output.isTerminal else {
            StandardStream.error.writeLine(
                "socktui: agent: writes to another socktui and not to a terminal; write host @NAME there")
            return ExitStatus.usage.rawValue
        }
        var run = AgentRun()
        run.logStart()
        _ = fcntl(stream, F_SETFL, fcntl(stream, F_GETFL) | O_NONBLOCK)
        run.output = AgentFrame.preamble + AgentFrame.hello(run.hello(version)).bytes
        while true {
            if let status = run.turn() { return status }
        }
    }

    /// Waits for what comes next, and handles it. Returns the exit status once it ends.
    private mutating func turn() -> Int32? {
        if clock.now - heard > Self.silence { return 0 }
        if clock.now >= nextLook, let status = look() { return status }
        let wait = min(nextLook - clock.now, Self.silence - (clock.now - heard))
        var polled = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            pollfd(fd: output.isEmpty ? -1 : Self.stream, events: Int16(POLLOUT), revents: 0),
        ]
        poll(&polled, 2, Int32(clamping: max(0, wait.wholeNanoseconds + 999_999) / 1_000_000))
        if polled[0].revents != 0, let status = hear() { return status }
        return polled[1].revents != 0 ? write() : nil
    }

    private mutating func hear() -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        guard count > 0 else { return count == 0 || errno != EINTR && errno != EAGAIN ? 0 : nil }
        heard = clock.now
        do throws(WireError) {
            if let next = try reader.take(Array(bytes[..<count]), at: heard) { ask = next }
            return nil
        } catch {
            return end("the viewer does not speak the protocol of agents", .failure)
        }
    }

    private mutating func write() -> Int32? {
        let count = output[written...].withUnsafeBytes { Glibc.write(Self.stream, $0.baseAddress, $0.count) }
        guard count >= 0 else { return errno == EAGAIN || errno == EINTR ? nil : 0 }
        written += count
        if written == output.count { (output, written) = ([], 0) }
        return nil
    }

    // MARK: Looks

    /// Looks at the host. If the viewer is behind, what changed is united with the next look.
    private mutating func look() -> Int32? {
        let began = HostObserver.processorTime
        do throws(HostObserver.Problem) {
            let ports = Set(ask.ports)
            let near = watch.look.sockets.filter { socket in
                [socket.local?.port, socket.peer?.port].contains { $0.map(ports.contains) ?? false }
            }
            let inodes = Set(ask.inodes + near.flatMap { [$0.inode, watch.judge.peer(of: $0.id)?.inode ?? 0] })
            let processes = ask.processes + ask.names.flatMap(watch.processes)
            try watch.see(
                readsPrograms: true, inodes: inodes.subtracting([0]), processes: processes,
                ownersBudget: Self.ownersBudget, isAsked: !inodes.isEmpty || !processes.isEmpty)
        } catch {
            if !error.isPassing { return end(error.sentence, .hidden) }
            // The last look has been told.
            nextLook = clock.now + pace.pause
            return nil
        }
        if watch.judge.looks > 1 { pace.note(HostObserver.processorTime - began) }
        nextLook = clock.now + pace.pause
        writer.note(watch.look)
        if output.isEmpty, sent - min(sent, ask.taken) < Self.mostUntaken { send() }
        return nil
    }

    private mutating func send() {
        let update = writer.update(watch.look, interval: pace.pause)
        sent = update.number
        for frame in update.frames(sent: clock.now) { output += frame.bytes }
    }

    // MARK: Beginning and end

    private func hello(_ version: String) -> AgentHello {
        var hello = AgentHello()
        (hello.program, hello.process, hello.time) = (version, getpid(), clock.now)
        hello.boot = Self.line("/proc/sys/kernel/random/boot_id")
        hello.machine = Self.line("/proc/sys/kernel/hostname")
        var facts = stat()
        if stat("/proc/self/ns/net", &facts) == 0 { hello.namespace = UInt64(facts.st_ino) }
        return hello
    }

    private static func line(_ path: String) -> String {
        let text = try? TextFile.contents(of: path, limit: 4_096)
        return text?.split(separator: "\n").first.map(String.init) ?? ""
    }

    /// Says why it ends, as far as the viewer takes it.
    private mutating func end(_ sentence: String, _ status: ExitStatus) -> Int32 {
        output += AgentFrame.bye(sentence).bytes
        _ = write()
        return status.rawValue
    }

    /// Writes to the system log who looks at this host, and from where.
    private func logStart() {
        let place = ["SSH_CONNECTION", "SUDO_UID"].compactMap { name in
            EnvironmentVariables.value(of: name).map { "\(name)=\($0.prefix(128))" }
        }
        let text = (["agent started by user \(getuid())"] + place).joined(separator: ", ")
        text.withCString { text in withVaList([text]) { vsyslog(LOG_INFO | Int32(4 << 3), "socktui: %s", $0) } }
    }
}
