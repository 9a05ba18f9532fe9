import SocketCore

/// Says what the last program of a chain does.
struct WaitEnds {
    let facts: HostFacts
    let question: WaitQuestion

    private var scene: HostScene { facts.scene }

    /// The calls that say by themselves what a thread waits for. To add one, add a row.
    private static let calls: [(kind: WaitEnd.Kind, names: Set<String>, words: String)] = [
        (.lock, ["futex", "futex_wait", "futex_waitv"], "waits for a lock"),
        (.child, ["wait4", "waitid"], "waits for a child process"),
        (.sleep, ["nanosleep", "clock_nanosleep"], "sleeps"),
        (.disk, ["fsync", "fdatasync", "sync_file_range"], "waits for disk I/O"),
    ]

    // MARK: Without a program

    /// The end where the peer is on another host, or has not answered yet.
    func withoutPeer() -> WaitEnd {
        let socket = question.asker
        switch question.form {
        case .handshake: return WaitEnd(.handshake, "has not answered the SYN\(HostRules.timer(socket))")
        case .resolver: return WaitEnd(.resolver, "has not answered the query")
        default: break
        }
        if let unsent = socket.unsent, unsent > 0 {
            let window = socket.tcp?.sendWindow == 0 ? ", its window is 0" : ""
            let words = "has not acknowledged \(HostRules.size(unsent))\(window)\(HostRules.timer(socket))"
            return WaitEnd(.far, words)
        }
        return WaitEnd(.far, "has acknowledged the request but not answered it")
    }

    /// The end where no process is known, or several may answer.
    func unknown(_ owners: [HostLook.Owner], _ answerer: HostSocket) -> WaitEnd {
        guard owners.count > 1 else {
            if answerer.inode == 0 { return WaitEnd(.closed, "its program has closed it") }
            return WaitEnd(.hidden, "its program is not visible (user \(answerer.user))")
        }
        let what = answerer.isListening ? "and none of them has accepted it" : "and it is not known which one answers"
        return WaitEnd(.unaccepted, "\(owners.count) processes have it open, \(what)")
    }

    // MARK: With a program

    private func end(_ kind: WaitEnd.Kind, _ words: String, of owner: HostLook.Owner, for time: Duration? = nil)
        -> WaitEnd
    {
        var end = WaitEnd(kind, words, for: time)
        end.process = scene.look.processes[owner.process]?.id
        end.descriptor = owner.descriptor
        return end
    }

    func hidden(_ owner: HostLook.Owner) -> WaitEnd { end(.hidden, "what it does is not visible", of: owner) }

    func stopped(_ program: HostProgram, _ owner: HostLook.Owner, _ halt: String) -> WaitEnd {
        let idle = program.leastIdle
        return end(.stopped, "is \(halt)", of: owner, for: idle)
    }

    func running(_ owner: HostLook.Owner, _ thread: HostThread, _ time: Duration, isLoop: Bool) -> WaitEnd {
        let words =
            "has been running without pausing for at least \(Format.duration(time))"
            + (facts.ledger.worked(thread).map { " (\(Format.duration($0)) of CPU time)" } ?? "")
            + (isLoop ? "; its event loop serves no other socket" : "")
        var end = end(.running, words, of: owner, for: time)
        (end.thread, end.isLoop) = (thread.number, isLoop)
        return end
    }

    func several(_ owner: HostLook.Owner, _ open: Int) -> WaitEnd {
        end(.several, "waits for \(open) servers; it is not known which", of: owner)
    }

    /// - Parameter older: the number of its own unanswered questions, none of which belongs to this one.
    func end(of program: HostProgram, _ owner: HostLook.Owner, _ server: WaitServer, older: Int) -> WaitEnd {
        guard let thread = server.thread else { return threads(of: program, owner, older) }
        if server.isLoop { return loop(owner, thread, older) }
        return call(of: thread, program, owner, isOnly: server.isOnly)
    }

    private func loop(_ owner: HostLook.Owner, _ thread: HostThread, _ older: Int) -> WaitEnd {
        var found = end(
            .loop, "its event loop waits for its next event, and no socket explains that" + Self.older(older),
            of: owner, for: thread.idle)
        found.thread = thread.number
        return found
    }

    private static func older(_ count: Int) -> String {
        guard count > 0 else { return "" }
        return count == 1
            ? " (its own open request was sent before this one)"
            : " (its \(count) own open requests were sent before this one)"
    }

    private func call(of thread: HostThread, _ program: HostProgram, _ owner: HostLook.Owner, isOnly: Bool) -> WaitEnd {
        let who = isOnly ? "" : "the thread of its event loop "
        let name = HostScene.safe(thread.call?.name ?? "")
        var found: WaitEnd
        if thread.state == UInt8(ascii: "D") {
            found = end(.disk, "\(who)waits for disk I/O or another device (state D, \(thread.words))", of: owner)
        } else if let row = Self.calls.first(where: { $0.names.contains(name) }) {
            found = end(row.kind, "\(who)\(row.words) (\(name))", of: owner)
        } else if thread.call?.isTimedSleep == true {
            found = end(.sleep, "\(who)sleeps (\(name))", of: owner)
        } else if isLatch(thread, program) {
            found = end(.lock, "waits on its latch, as on a lock (\(name))", of: owner)
        } else {
            let isState = thread.call?.kind == .running || thread.call?.kind == .outside
            found = end(.call, "\(who)is " + (isState ? "" : "in ") + thread.words, of: owner)
        }
        found.lasting = thread.isRunning ? nil : thread.idle
        found.thread = thread.number
        found.mayRunOn = facts.ledger.mayRunOn(thread)
        return found
    }

    /// Whether it is a backend of PostgreSQL that waits for another process, not for its client.
    private func isLatch(_ thread: HostThread, _ program: HostProgram) -> Bool {
        guard program.process.isBackend, let set = thread.call?.pollSet.flatMap({ program.sets[$0] }) else {
            return false
        }
        return set.keys.allSatisfy { scene.socket(inode: $0) == nil }
    }

    /// The most calls that are named.
    private static let mostCalls = 3

    private func threads(of program: HostProgram, _ owner: HostLook.Owner, _ older: Int) -> WaitEnd {
        if program.process.isGo {
            return end(.threads, "is in a goroutine, which is not visible" + Self.older(older), of: owner)
        }
        let counts = Dictionary(program.process.threads.map { ($0.call?.name ?? $0.words, 1) }, uniquingKeysWith: +)
        let calls = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(Self.mostCalls)
            .map { "\($0.value) in \(HostScene.safe($0.key))" }.joined(separator: ", ")
        let words =
            "no socket explains it; which of its \(program.process.threads.count) threads serves the request is not "
            + "visible (\(calls))" + Self.older(older)
        return end(.threads, words, of: owner)
    }
}

extension HostProcess {
    /// Whether it is a backend of PostgreSQL.
    var isBackend: Bool { executable == "postgres" }
}
