import Glibc
import InspectorCore
import InspectorShell
import SocketKit

/// An off-screen screen of a given size. Its keys come from a script.
final class ScriptScreen: Screen {
    var size: Size
    var descriptor: Int32? { nil }

    init(_ size: Size) { self.size = size }

    func input() -> [Message] { [] }
    func show(_ canvas: Canvas) {}
    func repaint() {}
    func suspend() {}
    func resume() {}
    func copy(_ bytes: [UInt8]) -> Bool { false }
    func run(_ arguments: [String]) -> Int32? { nil }
    func hearMouse(_ isOn: Bool) {}
    func bell() {}
}

/// Performs a script on a run loop. Time passes in the loop's own passes.
struct ScriptDriver {
    /// A step that failed. The exit status is 1.
    struct Failure: Error, Equatable {
        var line: Int
        var sentence: String
        /// The contents of the screen.
        var picture: String
    }

    let loop: RunLoop
    let screen: ScriptScreen

    /// Performs all steps.
    /// - Throws: the first failure.
    func run(_ script: Script) throws(Failure) {
        for (line, step) in script.steps {
            if loop.ending != nil { throw failure(line, "the program had already ended") }
            try perform(step, line: line)
        }
    }

    private func perform(_ step: Script.Step, line number: Int) throws(Failure) {
        switch step {
        case .key(let keys): keys.forEach { loop.handle([.key($0)]) }
        case .command(let line):
            loop.handle([.command(line)])
            if let problem = loop.problem { throw failure(number, problem) }
        case .type(let text): text.forEach { loop.handle([.key(.character($0))]) }
        case .wait(let text, let limit):
            try wait(for: text, limit, line: number)
        case .waitNot(let text, let limit):
            guard runPasses(limit, until: { !loop.canvas.text.contains(text) }) == .seen else {
                throw failure(number, "waited \(limit) for \"\(text)\" to go away")
            }
        case .dump(let path):
            if let path, let refusal = Elevation.refusal { throw failure(number, "\(path): \(refusal)") }
            guard writePicture(to: path) else {
                throw failure(number, "\(path ?? "standard output"): \(String(cString: strerror(errno)))")
            }
        case .resize(let size):
            screen.size = size
            loop.handle([.resized(size)])
        }
    }

    /// How a wait ended.
    private enum Waited: Equatable {
        case seen, late
        /// Nothing is going on that could produce it. The value is the reason.
        case futile(String)
    }

    /// The time and the number of passes without activity after which a wait is given up.
    private static let stillness = (time: Duration.milliseconds(500), passes: 5)

    private func wait(for text: String, _ limit: Duration, line number: Int) throws(Failure) {
        switch runPasses(limit, until: { loop.shows(text) }, whileGoing: true) {
        case .seen: return
        case .futile(let why): throw failure(number, "\"\(text)\" can no longer appear: \(why)")
        case .late:
            let hint = Script.endsWithTime(text) ? "; the time goes first, as in wait 1s TEXT" : ""
            throw failure(number, "waited \(limit) for \"\(text)\"" + hint)
        }
    }

    /// Runs passes of the loop until `isWanted` returns true or `limit` has passed. With `whileGoing`, also stops when activity
    /// ends.
    private func runPasses(_ limit: Duration, until isWanted: () -> Bool, whileGoing: Bool = false) -> Waited {
        let end = ContinuousClock.now + limit
        var still: (since: ContinuousClock.Instant, passes: Int)?
        while !isWanted() {
            if loop.ending != nil || ContinuousClock.now >= end { return .late }
            loop.pass()
            guard whileGoing, let reason = loop.whyNothingGoesOn else {
                still = nil
                continue
            }
            still = (still?.since ?? .now, (still?.passes ?? 0) + 1)
            guard let still, still.passes > Self.stillness.passes, .now - still.since > Self.stillness.time else {
                continue
            }
            if !isWanted() { return .futile(reason) }
        }
        return .seen
    }

    private func writePicture(to path: String?) -> Bool {
        let picture = loop.canvas.text + "\n"
        guard let path else {
            return [.written, .nobodyReads].contains(StandardStream.output.write(picture, until: loop.interruption))
        }
        let file = path.withNative { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
        guard file >= 0 else { return false }
        defer { close(file) }
        return FileOutput.write(picture, to: file)
    }

    private func failure(_ line: Int, _ sentence: String) -> Failure {
        Failure(line: line, sentence: sentence, picture: loop.canvas.text)
    }
}
