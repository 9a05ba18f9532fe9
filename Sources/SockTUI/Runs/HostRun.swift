import Glibc
import HostSockets
import InspectorCore
import InspectorShell
import SocketCore
import SocketKit

/// Implements `why` and `host --check`: look, print and end.
enum HostRun {
    /// Prints why a program hangs.
    static func why(_ target: HostTarget, _ options: HostOptions, _ lints: LintSettings) -> Int32 {
        var watch = HostWatch(options, lints)
        do throws(HostObserver.Problem) {
            let answer = try why(target, options, &watch)
            guard let answer else { return unanswered(nothing(target, watch), options, status: .nothing) }
            return tell(answer, options)
        } catch {
            return unanswered(error.sentence, options, status: .hidden)
        }
    }

    /// Prints an answer. Returns the exit status.
    static func tell(_ answer: HostAnswer, _ options: HostOptions) -> Int32 {
        let text = options.isJSON ? answer.json(.standard).text : answer.lines.joined(separator: "\n")
        let status: Int32 = answer.isLate || answer.found.contains { $0.severity > .note } ? 1 : 0
        return Program.status(of: StandardStream.output.write(text + "\n"), otherwise: status)
    }

    /// Says why there is no answer. A program that reads JSON gets an object in any case.
    static func unanswered(_ problem: String, _ options: HostOptions, status: ExitStatus) -> Int32 {
        if options.isJSON { StandardStream.output.write(HostAnswer.json(problem: problem).text + "\n") }
        return Program.complain(problem, status: status)
    }

    /// Returns the reason why nothing was found.
    static func nothing(_ target: HostTarget, _ watch: HostWatch) -> String {
        switch target {
        case .process(let number) where kill(number, 0) != 0 && errno == ESRCH:
            "there is no process \(number)" + (number <= 65_535 ? "; write :\(number) for a port" : "")
        case .process(let number): "process \(number) has no visible sockets"
        case .name(let name):
            if let number = watch.processes(named: name).first {
                "\(name)[\(number)] has no visible sockets"
            } else {
                "no program is named \(name)"
                    + (watch.name(with: name).map { "; did you mean \($0)?" } ?? "")
            }
        case .port, .address, .datagrams: "no socket \(watch.place) has \(target) at either end"
        }
    }

    /// Returns the explanation of a target, or `nil` if there is no such socket.
    static func why(
        _ target: HostTarget, _ options: HostOptions, _ watch: inout HostWatch
    ) throws(HostObserver.Problem) -> HostAnswer? {
        var processes: [Int32] = []
        switch target {
        case .process(let number): processes = [number]
        case .name(let name): processes = watch.processes(named: name)
        case .port, .address, .datagrams: break
        }
        try watch.settle(span: options.span, processes: processes) { target.matches($0) }
        return HostAnswer(target, Set(processes), watch.look, watch.judge, options.answer)
    }

    /// Prints the problems of this host's sockets.
    static func check(_ options: HostOptions, _ lints: LintSettings) -> Int32 {
        guard options.places.isEmpty else { return FleetRun.check(options, lints) }
        var watch = HostWatch(options, lints)
        do throws(HostObserver.Problem) {
            try watch.settle(span: options.span)
        } catch {
            return unchecked(error.sentence, watch.look, options, status: .hidden)
        }
        return report(watch.judge, watch.look, options, place: watch.place)
    }

    /// Prints what a judge has found. Returns the exit status.
    static func report(_ judge: HostJudge, _ look: HostLook, _ options: HostOptions, place: String) -> Int32 {
        let (found, count) = listed(judge, look, options)
        if count == 0, !options.filter.isEmpty {
            let why = FilterTerm.hostName(in: options.filter).map {
                "; \($0.prefix { $0 != ":" }) is not a filter key, so \($0) was taken for host:port"
            }
            let problem = "\(options.filter): no socket \(place) matches\(why ?? "")"
            return unchecked(problem, look, options, status: .nothing)
        }
        let text =
            options.isJSON
            ? json(found, count, look) : lines(found, count, look, isFiltered: !options.filter.isEmpty)
        let hidden = look.hidden
        var status: Int32 = found.contains { $0.severity >= options.level ?? .warning } ? 1 : 0
        if options.isStrict, hidden.processes + hidden.calls + hidden.sockets + hidden.namespaces > 0 {
            status = Program.complain("--strict: part of the host could not be examined", status: .hidden)
        }
        return Program.status(of: StandardStream.output.write(text), otherwise: status)
    }

    /// Says why nothing was checked. A program that reads JSON gets an object in any case.
    private static func unchecked(
        _ problem: String, _ look: HostLook, _ options: HostOptions, status: ExitStatus
    ) -> Int32 {
        if options.isJSON { StandardStream.output.write(json([], 0, look, problem: problem)) }
        return Program.complain(problem, status: status)
    }

    /// Returns the verdicts about the sockets that match the filter, and the number of those sockets.
    private static func listed(
        _ judge: HostJudge, _ look: HostLook, _ options: HostOptions
    ) -> (found: [Verdict], count: Int) {
        let found = judge.verdicts().found
        guard !options.filter.isEmpty, case .success(let filter) = Filter.parse(options.filter) else {
            return (found, look.sockets.count)
        }
        var rows = HostRows()
        let snapshot = rows.snapshot(of: look, by: judge, found, wallNanoseconds: 0)
        var findings = Findings(LintSettings())
        findings.absorb(snapshot, lost: 0)
        let listed = Set(filter.matching(snapshot.sockets, snapshot.time, findings).map(\.id))
        let matching = found.filter { $0.sockets.contains { rows.id(of: $0).map(listed.contains) ?? false } }
        return (matching, listed.count)
    }

    private static func lines(
        _ found: [Verdict], _ count: Int, _ look: HostLook, isFiltered: Bool
    ) -> String {
        let width = StandardStream.output.isTerminal ? 80 : nil
        let lines = HostCheck.lines(
            found, sockets: count, namespaces: isFiltered ? 1 : look.namespaces.count,
            hosts: look.machines.count, hidden: look.hidden,
            owners: HiddenOwners.text(look, names: look.machines.isEmpty ? OwnUser.names() : [:]),
            width: width)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func json(_ found: [Verdict], _ count: Int, _ look: HostLook, problem: String? = nil) -> String {
        let verdicts = found.map { JSON.object([JSON.Member("type", "verdict")] + $0.hostMembers(.standard)) }
        let hidden = look.hidden
        let summary: JSON = [
            "type": "checked", "sockets": JSON(count), "hidden_processes": JSON(hidden.processes),
            "hidden_calls": JSON(hidden.calls), "hidden_sockets": JSON(hidden.sockets),
            "hidden_reason": JSON(hidden.reason), "namespaces": JSON(max(1, look.namespaces.count)),
            "hidden_namespaces": JSON(hidden.namespaces), "problem": JSON(problem),
        ]
        return (verdicts + [summary]).map { $0.text + "\n" }.joined()
    }
}
