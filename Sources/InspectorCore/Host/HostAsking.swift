import SocketCore

/// How a socket's bytes, or a listener's connections, are asked for by the programs that have it open, as one look
/// showed it.
package struct HostAsking: Hashable, Sendable {
    /// The order is that of belief: of several owners, the first of these is what counts.
    package enum Kind: Int, Hashable, Sendable {
        /// A thread waits for them, or an event loop does that is not edge-triggered.
        case asks
        /// A signal, a debugger or a frozen cgroup has stopped the program.
        case stopped
        /// A request may be pending where no look sees it (io_uring).
        case unseen
        /// Its program is not known, or what it does is not.
        case hidden
        /// Its event loop was told once, edge-triggered.
        case edge
        /// An event loop listens for it, but no thread waits in that loop.
        case stuck
        /// Nobody asks.
        case unasked
        /// It waits to be accepted.
        case unaccepted
        /// Its program has closed it.
        case orphan
    }

    package var kind: Kind
    /// What this rests on.
    package var proof: Evidence
    package var time: MonotonicTime
    package var process: HostProcess.ID?
    package var descriptor: Int32?
    /// How many more processes have it open.
    package var others = 0
    /// The thread that asks, or the program's first, and how long it has not run.
    package var thread: Int32?
    package var idle: Duration?
    /// Whether that thread waits for this socket.
    package var isWaiting = false
    /// Whether its program has one thread only, which sleeps for a time: it may look at what came each time it wakes.
    var wakesLater = false
    /// What is seen: `thread 4711 is in futex`. Sanitized.
    package var words = ""
    /// The same in a column: `send 47.7M`, `epoll ET`.
    package var short = ""

    init(_ kind: Kind, _ proof: Evidence, _ time: MonotonicTime) {
        (self.kind, self.proof, self.time) = (kind, proof, time)
    }
}

extension Evidence {
    /// Whether it suffices to say that nobody asks.
    var provesSilence: Bool { self == .arguments || self == .idle }
}

extension HostCall {
    /// `send of 47.7M`, `recv of 1.0M with MSG_WAITALL`, `futex`.
    package var words: String {
        switch kind {
        case .running: return "running"
        case .outside: return "asleep outside a call"
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
    /// What it is in, as far as that is known.
    package var words: String {
        if let call { return call.words }
        let isTold = !waitChannel.isEmpty && waitChannel != "0"
        return HostWait(self).words ?? (isTold ? HostScene.safe(waitChannel) : "-")
    }

    package var short: String { call?.short ?? words }

    /// `thread 4711 is in futex`, `thread 4711 is running`
    var clause: String {
        let isState = call?.kind == .running || call?.kind == .outside
        return "thread \(number) is " + (isState ? words : "in \(words)")
    }
}

extension HostScene {
    private static let sanitizer = Sanitizer(isASCII: false)

    /// Foreign text, made safe for a terminal and cut.
    static func safe(_ text: String) -> String { sanitizer.text(text.prefix(120)) }

    /// `api.py[4711]`, `nginx[812]+3`, or who else has it where the program is not known. Sanitized.
    func title(_ asking: HostAsking?, of socket: HostSocket) -> String {
        guard let asking, let process = asking.process, let known = look.processes[process.number] else {
            if asking?.kind == .hidden { return "a program of user \(socket.user)" }
            return socket.local.map { Self.safe("\($0)") } ?? "-"
        }
        return Self.safe(known.title) + (asking.others > 0 ? "+\(asking.others)" : "")
    }

    /// `api.py`, where the number stands beside it.
    func name(_ asking: HostAsking?, of socket: HostSocket) -> String {
        guard let known = asking?.process.flatMap({ look.processes[$0.number] }) else {
            return title(asking, of: socket)
        }
        return Self.safe(known.name)
    }
}
