import SocketCore

/// How the programs that have a socket open request its bytes, or a listener's connections, in one look.
package struct HostAsking: Equatable, Sendable {
    /// The kinds in order of precedence. If there are several owners, the first of these counts.
    package enum Kind: Int, Hashable, Sendable {
        /// A thread, or an event loop that is not edge-triggered, waits for them.
        case asks
        /// A signal, a debugger or a frozen cgroup has stopped the program.
        case stopped
        /// A request that no look can see may be pending (io_uring).
        case unseen
        /// Its program, or what the program does, is not known.
        case hidden
        /// Its event loop was notified once, edge-triggered.
        case edge
        /// An event loop registered it, but no thread waits in that loop.
        case stuck
        /// No program requests them.
        case unasked
        /// It is waiting to be accepted.
        case unaccepted
        /// Its program has closed it.
        case orphan
    }

    package var kind: Kind
    /// The evidence for this.
    package var proof: Evidence
    package var time: MonotonicTime
    package var process: HostProcess.ID?
    package var descriptor: Int32?
    /// The number of other processes that have it open.
    package var others = 0
    /// The requesting thread, or the program's first thread. `idle` is how long it has not run.
    package var thread: Int32?
    package var idle: Duration?
    /// Whether that thread waits for this socket.
    package var isWaiting = false
    /// Whether its program has only one thread, which sleeps for a time. It may check for input whenever it wakes up.
    var wakesLater = false
    /// The observation: `thread 4711 is in futex`. Sanitized.
    package var words = ""
    /// The observation for a column: `send 47.7M`, `epoll ET`.
    package var short = ""

    /// How long its thread has waited for this socket, or `nil` if none does, or one is just running.
    var waited: Duration? { isWaiting && idle != .zero ? idle : nil }

    init(_ kind: Kind, _ proof: Evidence, _ time: MonotonicTime) {
        (self.kind, self.proof, self.time) = (kind, proof, time)
    }
}

extension Evidence {
    /// Whether it is enough to prove that no program requests the bytes.
    var provesSilence: Bool { self == .arguments || self == .idle }
}

extension HostCall {
    /// `send of 47.7M`, `recv of 1.0M with MSG_WAITALL`, `futex`.
    package var words: String {
        switch kind {
        case .running: return "running"
        case .outside: return "sleeping outside any system call"
        default: break
        }
        let size = amount.map { " of \(Format.size($0))" } ?? ""
        return HostScene.safe(name) + size + (waitsForAll ? " with MSG_WAITALL" : "")
    }

    /// `send 47.7M`
    package var short: String {
        switch kind {
        case .running: "running"
        case .outside: "asleep"
        default: HostScene.safe(name) + (amount.map { " \(Format.bytes($0))" } ?? "")
        }
    }
}

extension HostThread {
    /// The call or function that it is in, as far as known.
    package var words: String {
        if let call { return call.words }
        let isTold = !waitChannel.isEmpty && waitChannel != "0"
        return HostWait(self).words ?? (isTold ? HostScene.safe(waitChannel) : "-")
    }

    package var short: String { call?.short ?? words }

    /// `thread 4711 is in futex`, `thread 4711 is running`
    var clause: String {
        let isState = call?.kind == .running || call?.kind == .outside
        return "thread \(HostOrdinal.kernelProcess(number)) is " + (isState ? words : "in \(words)")
    }
}

extension HostScene {
    private static let sanitizer = Sanitizer(isASCII: false)

    /// Returns foreign text truncated and made safe for a terminal.
    static func safe(_ text: String) -> String {
        // Names of programs are nearly always plain, and are told for each of thousands of sockets.
        let isPlain = text.utf8.count <= longest && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        return isPlain ? text : sanitizer.text(text.prefix(longest))
    }

    private static let longest = 120

    /// Returns `api.py[4711]` or `nginx[812]+3`, or the other end if the program is not known. Sanitized.
    func title(_ asking: HostAsking?, of socket: HostSocket) -> String {
        guard let asking, let process = asking.process, let known = look.processes[process.number] else {
            if asking?.kind == .hidden { return "a program of user \(socket.user)" }
            return socket.local.map { Self.safe("\($0)") } ?? "-"
        }
        return Self.safe(known.title) + (asking.others > 0 ? "+\(asking.others)" : "")
            + hostSuffix(HostOrdinal(ofProcess: process.number))
    }

    /// Returns `api.py[4711]`, or `api.py[4711] on web1` if there are several hosts. Sanitized.
    func title(_ process: HostProcess) -> String {
        Self.safe(process.title) + hostSuffix(HostOrdinal(ofProcess: process.id.number))
    }

    private func hostSuffix(_ host: HostOrdinal) -> String {
        look.machines[host].map { " on \(Self.safe($0.name))" } ?? ""
    }

    /// Returns a command as it must be typed here to be run on a host.
    func there(_ command: String, on host: HostOrdinal) -> String {
        guard let prefix = look.machines[host]?.command, !prefix.isEmpty else { return command }
        // ssh joins its words, and a shell there splits them again.
        let isRead = prefix.split(separator: " ").first == "ssh" && command.contains("'")
        let words = isRead ? "\"\(command)\"" : command
        return "\(Self.safe(prefix)) \(words)"
    }

    /// Returns `api.py`, for use next to the process number.
    func name(_ asking: HostAsking?, of socket: HostSocket) -> String {
        guard let known = asking?.process.flatMap({ look.processes[$0.number] }) else {
            return title(asking, of: socket)
        }
        return Self.safe(known.name)
    }
}
