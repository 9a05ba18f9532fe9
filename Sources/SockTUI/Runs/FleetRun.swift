import InspectorCore
import InspectorShell
import SocketCore
import SocketKit

/// Implements `why` and `host --check` for several hosts: look, print and end.
enum FleetRun {
    /// Prints why programs on several hosts hang.
    static func why(_ questions: [HostQuestion], _ options: HostOptions, _ lints: LintSettings) -> Int32 {
        var watch = FleetWatch(options.places, questions, lints: lints)
        watch.settle(span: options.span)
        defer { watch.close() }
        let asked = options.places.filter { place in questions.contains { $0.place == place } }
        if let status = complain(watch, isEnough: asked.allSatisfy(watch.isPresent)) { return status }
        let answer = HostAnswer(about: watch.isMeant, watch.meant, watch.judge.look, watch.judge, options.answer)
        guard let answer else {
            let targets = questions.map { "\($0.target) on \($0.place.name)" }.joined(separator: " or ")
            return HostRun.unanswered("no socket of \(targets) is visible", options, status: .nothing)
        }
        return HostRun.tell(answer, options)
    }

    /// Prints the problems of the sockets of several hosts.
    static func check(_ options: HostOptions, _ lints: LintSettings) -> Int32 {
        var watch = FleetWatch(options.places, lints: lints)
        watch.settle(span: options.span)
        defer { watch.close() }
        let isEnough = options.isStrict ? watch.present == options.places.count : watch.present > 0
        if let status = complain(watch, isEnough: isEnough) { return status }
        return HostRun.report(watch.judge, watch.judge.look, options, place: "on these hosts")
    }

    /// Says which hosts are not there. Returns a status if too few are.
    private static func complain(_ watch: FleetWatch, isEnough: Bool) -> Int32? {
        for (name, sentence) in watch.problems {
            StandardStream.error.writeLine("socktui: \(name): \(sentence)")
        }
        return isEnough ? nil : ExitStatus.hidden.rawValue
    }
}
