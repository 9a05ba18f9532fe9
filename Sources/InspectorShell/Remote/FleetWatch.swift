import Glibc
import InspectorCore
import SocketCore
import SocketKit
import SocketRecords

/// Watches several hosts through their agents, and feeds one judge. Not for use on an engine's queue.
package struct FleetWatch {
    private var links: [HostLink]
    private var fleet = HostFleet()
    private var asks: [HostOrdinal: AgentAsk] = [:]
    /// What is asked about, host by host.
    private let questions: [HostOrdinal: [HostTarget]]
    private let clock = SystemClock()
    /// Whether lost hosts are kept as they were last seen, and connected again.
    private let reconnects: Bool
    package private(set) var judge: HostJudge
    /// The inodes in the view of sockets that are examined, however healthy they seem.
    package var sight: Set<UInt64> = []
    /// What changed since this was last taken, and the sockets that were closed.
    private var changes: HostLook.Changes?
    private var closings: (list: [HostSocket], lost: UInt64?) = ([], 0)
    private let began: MonotonicTime

    /// How long the first two looks of every host are waited for, and problems of stalled bytes after that.
    private static let opening = Duration.seconds(10)
    private static let most = Duration.seconds(8)
    private static let askAgain = Duration.seconds(5)
    private static let mostClosings = 65_536

    /// Starts the agents of these hosts, as many as a view has at most.
    package init(
        _ places: [HostPlace], _ questions: [HostQuestion] = [], lints: LintSettings, reconnects: Bool = false
    ) {
        let own = "/proc/self/exe"
        (self.reconnects, began) = (reconnects, clock.now)
        judge = HostJudge(lints)
        links = zip(places, (0...).lazy).compactMap { place, number in
            HostOrdinal(number).map { HostLink(place, $0, own: own) }
        }
        var asked: [HostOrdinal: [HostTarget]] = [:]
        for link in links { asked[link.host] = questions.filter { $0.place == link.place }.map(\.target) }
        self.questions = asked
    }

    /// The hosts that are not there, and why. Sanitized.
    package var problems: [(name: String, sentence: String)] {
        links.compactMap { link in
            let silence = fleet.silence(of: link.host, at: clock.now).map { "silent for \(Format.duration($0))" }
            let untold = fleet.looks(of: link.host) == 0 ? "has told nothing yet" : nil
            return (link.problem ?? silence ?? untold).map { (link.place.name, Sanitizer(isASCII: false).text($0)) }
        }
    }

    /// The number of hosts that have told what they saw.
    package var present: Int { links.count { $0.isOpen && fleet.looks(of: $0.host) > 0 } }

    /// Whether a host has told what it saw.
    package func isPresent(_ place: HostPlace) -> Bool {
        links.contains { $0.place == place && $0.isOpen && fleet.looks(of: $0.host) > 0 }
    }

    /// Whether a socket is one that is asked about.
    package func isMeant(_ socket: HostSocket) -> Bool {
        questions[socket.host]?.contains { $0.matches(socket) } ?? false
    }

    /// The processes that are asked about.
    package var meant: Set<Int32> {
        Set(judge.look.processes.values.lazy.filter(isMeant).map(\.id.number))
    }

    private func isMeant(_ process: HostProcess) -> Bool {
        questions[HostOrdinal(ofProcess: process.id.number)]?.contains { target in
            switch target {
            case .process(let number): HostOrdinal.kernelProcess(process.id.number) == number
            case .name(let name): [process.name, process.command, process.executable].contains(name)
            case .port, .address, .datagrams: false
            }
        } ?? false
    }

    // MARK: Looking

    /// Waits for two looks of every host that can be reached, and then until problems of stalled bytes are proven or
    /// cleared, or for `span`.
    package mutating func settle(span: Duration?) {
        let opened = ContinuousClock.now + Self.opening
        while ContinuousClock.now < opened, links.contains(where: { $0.isOpen && fleet.looks(of: $0.host) < 2 }) {
            turn(until: opened)
        }
        let end = ContinuousClock.now + (span ?? Self.most)
        while ContinuousClock.now < end, links.contains(where: \.isOpen), span != nil || isUndecided {
            turn(until: end)
        }
        noteStates()
    }

    private var isUndecided: Bool {
        let undecided = judge.verdicts().undecided
        guard !undecided.isEmpty, questions.values.contains(where: { !$0.isEmpty }) else { return !undecided.isEmpty }
        return !undecided.isDisjoint(with: judge.related(to: judge.look.sockets.filter(isMeant), meant))
    }

    /// Waits until some host says something, and takes that.
    private mutating func turn(until end: ContinuousClock.Instant) {
        var (polled, patience) = awaited
        patience = min(end - .now, patience)
        poll(&polled, nfds_t(polled.count), Int32(clamping: max(0, patience.wholeNanoseconds + 999_999) / 1_000_000))
        take(polled)
    }

    /// What must be waited for until `take`, and how long at most.
    package var awaited: (polled: [pollfd], patience: Duration) {
        var polled: [pollfd] = []
        for link in links {
            polled.append(pollfd(fd: link.output, events: Int16(POLLIN), revents: 0))
            polled.append(pollfd(fd: link.errors, events: Int16(POLLIN), revents: 0))
            polled.append(pollfd(fd: link.wantsToWrite ? link.input : -1, events: Int16(POLLOUT), revents: 0))
        }
        return (polled, links.contains(where: \.isEnding) ? .milliseconds(20) : .seconds(1))
    }

    /// Takes what the hosts have said.
    package mutating func take(_ polled: [pollfd]) {
        for place in links.indices where 3 * place + 2 < polled.count {
            if polled[3 * place + 1].revents != 0 { links[place].receiveErrors() }
            if polled[3 * place + 2].revents != 0 { links[place].flush() }
            if polled[3 * place].revents != 0 { receive(place) }
            links[place].settle(at: clock.now)
            if !links[place].isOpen { lose(place) }
            // An agent that hears nothing for long ends.
            if links[place].isOpen, let asked = links[place].asked, clock.now - asked >= Self.askAgain {
                ask(place, taken: links[place].taken)
            }
        }
        noteStates()
    }

    private mutating func receive(_ place: Int) {
        let (now, host) = (clock.now, links[place].host)
        for news in links[place].receive(at: now) {
            switch news {
            case .hello(let hello): open(place, hello, at: now)
            case .update(let update):
                guard links[place].isOpen, let merge = fleet.merge(update, of: host, at: now, into: judge.look)
                else { continue }
                absorb(merge)
                if fleet.isOverfull(judge.look, with: host) {
                    links[place].end("it tells of more sockets or programs than a host may have here")
                    // Kept, it would be held against all other hosts.
                    absorb(fleet.close(host, from: judge.look, at: now))
                    continue
                }
                ask(place, taken: update.number)
            case .bye: break
            }
        }
    }

    /// Forgets a host that is lost, or starts it again after a while.
    private mutating func lose(_ place: Int) {
        let host = links[place].host
        guard reconnects else {
            if fleet.boot(of: host) != nil { absorb(fleet.close(host, from: judge.look, at: clock.now)) }
            return
        }
        links[place].retryLater(at: clock.now)
        if let retry = links[place].retry, clock.now >= retry { links[place].restart() }
    }

    private mutating func absorb(_ merge: HostMerge) {
        judge.absorb(merge)
        guard reconnects else { return }
        if changes == nil { changes = merge.changes } else { changes?.absorb(merge.changes) }
        closings.list += merge.closings
        closings.lost = closings.lost.flatMap { lost in judge.look.closingsLost.map { lost.saturatingAdd($0) } }
        if closings.list.count > Self.mostClosings { closings = ([], nil) }
    }

    /// Returns the look of all hosts, with what changed since the last time.
    package mutating func takeLook() -> HostLook {
        var look = judge.look
        look.changes = changes
        look.changes?.host = nil
        (look.closings, look.closingsLost) = closings
        (changes, closings) = (HostLook.Changes(since: look.time), ([], 0))
        return look
    }

    /// Whether every host has looked twice or is not there, or was waited for long enough.
    package var isSettled: Bool {
        clock.now - began > Self.opening || links.allSatisfy { !$0.isOpen || fleet.looks(of: $0.host) > 1 }
    }

    /// What the hosts are now. `sockets` counts their sockets.
    package func statuses(_ sockets: [HostOrdinal: Int]) -> [HostStatus] {
        let now = clock.now
        return links.map { link in
            let isLate = fleet.silence(of: link.host, at: now) != nil
            let state: HostStatus.State =
                if let problem = link.problem {
                    .lost(problem)
                } else if link.taken == 0 {
                    .connecting
                } else {
                    isLate ? .late : .live
                }
            var status = HostStatus(name: link.place.name, state: state)
            status.age = fleet.age(of: link.host, at: now).map { Int($0.components.seconds) }
            status.retry = link.retry.map { Int(max(.zero, $0 - now).components.seconds) + 1 }
            (status.sockets, status.losses) = (sockets[link.host] ?? 0, link.losses)
            (status.distance, status.bytes) = (fleet.distance(of: link.host), link.bytes)
            (status.version, status.said) = (link.version, link.said)
            return status
        }
    }

    private mutating func open(_ place: Int, _ hello: AgentHello, at now: MonotonicTime) {
        let (link, host) = (links[place], links[place].host)
        links[place].version = String(hello.program.prefix(32))
        if let refusal = hello.refusal { return links[place].end(refusal) }
        // After a reboot, equal numbers are of other sockets.
        if let boot = fleet.boot(of: host), boot != hello.boot { absorb(fleet.close(host, from: judge.look, at: now)) }
        fleet.open(host, boot: hello.boot, namespace: hello.namespace, clock: hello.time, at: now)
        judge.note(HostMachine(name: link.place.name, command: link.place.prefix), host)
        ask(place, taken: 0)
    }

    /// Asks for what is meant there, and for what may explain it.
    private mutating func ask(_ place: Int, taken: UInt64) {
        let host = links[place].host
        var ask = AgentAsk()
        ask.taken = taken
        for target in questions[host] ?? [] {
            switch target {
            case .process(let number): ask.processes.append(number)
            case .name(let name): ask.names.append(name)
            case .port(let port): ask.ports.append(port)
            case .address, .datagrams: break
            }
        }
        let isAsked: (HostSocket) -> Bool = { isMeant($0) || $0.inode != 0 && sight.contains($0.inode) }
        ask.inodes = judge.reachAcross(to: host, from: isAsked, meant).sorted().map(HostOrdinal.kernelInode)
        links[place].ask(ask.limited, at: clock.now)
    }

    /// Notes which hosts are late, so that nothing is concluded from what they said.
    private mutating func noteStates() {
        let now = clock.now
        for (host, machine) in judge.look.machines {
            var noted = machine
            // What was told before the connection was lost does not count.
            let isThere = links.contains { $0.host == host && $0.isOpen && $0.taken > 0 }
            (noted.isLost, noted.isLive) = (!isThere, isThere && fleet.silence(of: host, at: now) == nil)
            if noted != machine { judge.note(noted, host) }
        }
    }

    /// Ends all agents.
    package mutating func close() {
        for place in links.indices { links[place].end("closed") }
    }
}
