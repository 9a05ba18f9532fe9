import InspectorCore
import InspectorScreen
import SocketCore
import SocketWorkshop

/// The options for deliberate faults.
extension CommandTable {
    static let controlCommand = Printer(
        name: "ctl", operands: .inspected("NAME COMMAND..."), help: "change the faults of a run started with --control"
    ) { (words, _) throws(UsageError) in
        guard let program = words.first else {
            throw UsageError("ctl", "needs a program, as in socktui ctl socktui fault list")
        }
        // An argument that the shell passed as one word must stay one word after `edit`.
        let line = zip(words, words.dropFirst()).map { former, word in
            former == "edit" && word.contains(" ") && !word.contains("\"") ? "\"\(word)\"" : word
        }.joined(separator: " ")
        guard !line.isEmpty else {
            throw UsageError(program, "write what to do: \(Action.faults.map(\.name).joined(separator: ", "))")
        }
        if case .failure(let failure) = FaultCommand.parse(line) { throw UsageError(sentence: failure.message) }
        return .control(program: program, line: line)
    }

    /// The commands that `socktui ctl` accepts.
    static let controlWords = Action.faults.map { "  \($0.usage)\n      \($0.syntax?.help ?? "")" }
        .joined(separator: "\n")

    /// The words of rules and the points of breakpoints, for the help.
    static let faultWords = FaultWord.all.map { word in
        ("  " + word.usage, (word.part == .point ? "POINT: " : "") + word.help)
    }

    /// The commands whose connections can have faults.
    static let breakable: Set = ["connect", "listen", "relay", "run"]

    /// Returns the rule or point that was meant if the shell has split it for lack of quotes, otherwise `nil`.
    static func unquoted(_ option: String, _ value: String, _ rest: ArraySlice<String>) -> String? {
        guard ["--fault", "--break"].contains(option), !value.contains(" ") else { return nil }
        let words = rest.prefix(8).prefix { !$0.hasPrefix("-") }
        let wholes = words.indices.map { ([value] + words[...$0]).joined(separator: " ") }
        return wholes.last { whole in
            do throws(FaultProblem) {
                if option == "--fault" { _ = try FaultRule.parse(whole) } else { _ = try Breakpoint.parse(whole) }
                return true
            } catch { return false }
        }
    }

    static let faultOptions: [Option] = [
        Option(
            name: "--fault", value: .text("RULE"), commands: breakable,
            help: "inject a fault: 'after 1K slice 7', or slow"
        ) {
            (text, request) throws(UsageError) in
            if !FaultProfile.isName(text) {
                do throws(FaultProblem) { _ = try FaultRule.parse(text) } catch {
                    throw UsageError("--fault", "\(error)")
                }
            }
            request.invocation.faults.rules.append(text)
        },
        Option(name: "--seed", value: .text("N"), commands: breakable, help: "the random seed for --fault") {
            (text, request) throws(UsageError) in
            guard let seed = UInt64(text) else { throw UsageError("--seed", "\(text) is not a number of at least 0") }
            request.invocation.faults.seed = seed
        },
        Option(
            name: "--delay-buffer", value: .text("SIZE"), commands: breakable,
            help: "buffer for delayed bytes; 4M by default"
        ) {
            (text, request) throws(UsageError) in
            let size = try size(text, "--delay-buffer")
            guard (1_024...1 << 30).contains(size) else {
                throw UsageError("--delay-buffer", "\(text) is not a size from 1K to 1G")
            }
            request.invocation.faults.delayBuffer = size
        },
        Option(
            name: "--break", value: .text("POINT"), commands: breakable,
            help: "hold connections: 'upstream on bytes 4711'"
        ) {
            (text, request) throws(UsageError) in
            do throws(FaultProblem) { _ = try Breakpoint.parse(text) } catch { throw UsageError("--break", "\(error)") }
            request.invocation.faults.breaks.append(text)
        },
        Option(
            name: "--hold-limit", value: .text("TIME"), commands: breakable, help: "release held bytes after TIME"
        ) {
            (text, request) throws(UsageError) in
            guard let time = FaultText.parseTime(text) else {
                throw UsageError("--hold-limit", "\(text): \(FaultText.needsTime(text))")
            }
            request.invocation.faults.holdLimit = time
        },
        Option(name: "--control", commands: runs, help: "let your socktui ctl change faults and sockets") {
            (_, request) throws(UsageError) in request.invocation.isControlled = true
        },
    ]
}
