import Dispatch
import HostSockets
import InspectorCore
import InspectorShell
import SocketKit

/// The tools of `socktui mcp`. They read facts and change none.
struct ToolWork: Sendable {
    let options: HostOptions
    let lints: LintSettings
    /// Stops a call whose client does not wait for the answer.
    let stopMark = StopMark()

    init(_ options: HostOptions, _ lints: LintSettings) { (self.options, self.lints) = (options, lints) }

    /// Runs a tool, which takes up to seven seconds.
    func result(of call: ToolCall) -> ToolResult {
        do throws(HostObserver.Problem) {
            switch call {
            case .why(let target):
                var watch = HostWatch(options, lints, stopMark: stopMark)
                guard let answer = try HostRun.why(target, options, &watch) else {
                    return .failure(HostRun.nothing(target, watch))
                }
                return ToolResult(answer.lines.joined(separator: "\n"), answer.json(.standard))
            case .host(let filter, let limit): return try host(filter, limit)
            case .connections(let program): return of(program) { connections($0, limit: 200, $1) }
            case .events(let program, let since, let limit):
                return of(program) { found, _ in events(found, since, limit) }
            }
        } catch {
            return .failure(error.sentence)
        }
    }

    private func host(_ filter: String, _ limit: Int) throws(HostObserver.Problem) -> ToolResult {
        let text = [options.filter, filter].filter { !$0.isEmpty }.joined(separator: " ")
        guard case .success(let parsed) = Filter.parse(text) else { return .failure("\(text): is not a filter") }
        var watch = HostWatch(options, lints, stopMark: stopMark)
        try watch.settle(span: options.span)
        var rows = HostRows()
        let snapshot = rows.snapshot(
            of: watch.look, by: watch.judge, watch.judge.verdicts().found,
            wallNanoseconds: SystemClock().wallNanoseconds)
        var findings = Findings(lints)
        findings.absorb(snapshot, lost: 0)
        return listing(parsed.matching(snapshot.sockets, snapshot.time, findings), in: snapshot, limit: limit)
    }

    /// Takes one snapshot of a program, from inside if it allows inspection.
    private func of(_ program: String, _ tell: (EngineSnapshot, SourceList) -> ToolResult) -> ToolResult {
        let sources = SourceList(asks: false, looking: options, lints: lints)
        defer { sources.close() }
        let problem = Lock<String?>(nil)
        let isAttached = DispatchSemaphore(value: 0)
        sources.attach(program) { error in
            if let error { problem.withLock { $0 = error.detail } } else { isAttached.signal() }
        }
        stopMark.wait(for: isAttached, atMost: Self.patience)
        if sources.isEmpty { return .failure(problem.withLock { $0 } ?? "\(program): does not answer") }
        let began = ContinuousClock.now
        while !stopMark.isStopped {
            let hasAnswered = sources.hasAnswered
            let found = Lock<EngineSnapshot?>(nil)
            let isThere = DispatchSemaphore(value: 0)
            sources.requestSnapshot(SnapshotRequest(kernel: .all, eventsFrom: 0)) { snapshot in
                found.withLock { $0 = snapshot }
                isThere.signal()
            }
            stopMark.wait(for: isThere, atMost: Self.patience)
            let snapshot = found.withLock { $0 }
            if let snapshot, hasAnswered || .now - began > .seconds(3) { return tell(snapshot, sources) }
            if .now - began > .seconds(6) { return .failure("\(program): does not answer") }
            stopMark.pause(.milliseconds(100))
        }
        return .failure("cancelled")
    }

    private func connections(_ snapshot: EngineSnapshot, limit: Int, _ sources: SourceList) -> ToolResult {
        let unread = options.tellsPayload ? unread(snapshot.sockets.prefix(limit), sources) : [:]
        return listing(snapshot.sockets, in: snapshot, limit: limit, unread)
    }

    /// The most sockets whose unread bytes are reported.
    private static let mostPeeks = 16

    /// Returns the unread bytes of those sockets that have any and belong to this user.
    private func unread(_ sockets: ArraySlice<SocketSnapshot>, _ sources: SourceList) -> [SocketID: UnreadBytes] {
        let wanted = sockets.filter { $0.host?.unread ?? 0 > 0 && $0.host?.process != nil }.prefix(Self.mostPeeks)
        var found: [SocketID: UnreadBytes] = [:]
        for socket in wanted where !stopMark.isStopped {
            let look = Lock<UnreadLook?>(nil)
            let isThere = DispatchSemaphore(value: 0)
            sources.requestUnread(UnreadRequest(socket.id)) { @Sendable answer in
                look.withLock { $0 = answer }
                isThere.signal()
            }
            stopMark.wait(for: isThere, atMost: Self.patience)
            found[socket.id] = look.withLock { $0?.found }
        }
        return found
    }

    private func listing(
        _ sockets: [SocketSnapshot], in snapshot: EngineSnapshot, limit: Int, _ unread: [SocketID: UnreadBytes] = [:]
    ) -> ToolResult {
        let json = Self.json(snapshot)
        var findings = Findings(lints)
        findings.absorb(snapshot, lost: 0)
        return Self.list(
            sockets.map { socket in
                let verdicts = findings[socket.id].map { JSON.object($0.members(.standard)) }
                var members = json.members(socket) + [JSON.Member("verdicts", .array(verdicts))]
                if let bytes = unread[socket.id] { members.append(JSON.Member("unread", bytes.json)) }
                return .object(members)
            }, as: "sockets", limit)
    }

    private func events(_ snapshot: EngineSnapshot, _ since: UInt64, _ limit: Int) -> ToolResult {
        if snapshot.sockets.contains(where: { $0.host != nil }) {
            return .failure(
                "it is seen from outside, where the kernel reports no events; \(AttachablePrograms.howTo)")
        }
        let json = Self.json(snapshot)
        let wanted = snapshot.events.filter { $0.sequence >= since }
        return Self.list(
            wanted.map { .object(json.members($0, of: snapshot.socket($0.socket))) }, as: "events", limit)
    }

    private static func json(_ snapshot: EngineSnapshot) -> SocketJSON {
        var clock = WallClock()
        clock.absorb(snapshot)
        return SocketJSON(clock: clock)
    }

    /// Returns as many items as allowed, and the number of the others.
    private static func list(_ all: [JSON], as name: String, _ limit: Int) -> ToolResult {
        let content = JSON.object([
            JSON.Member(name, .array(Array(all.prefix(limit)))), JSON.Member("more", JSON(max(0, all.count - limit))),
        ])
        return ToolResult(content.text, content)
    }

    private static let patience = Duration.seconds(5)
}
