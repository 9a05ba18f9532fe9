import SocketCore
import SocketWorkshop

/// A command for faults and breakpoints, typed after `:`, in a script or sent by `socktui ctl`.
package enum FaultCommand: Equatable, Sendable {
    /// Rules or a profile's name, as typed.
    case add(String)
    case list
    /// Lists what breakpoints hold.
    case held
    case off(Int)
    case clear
    case addBreak(String)
    case breakOff(Int)
    case clearBreaks
    /// Releases one connection, or the one held longest, in one direction or in both.
    case release(BreakRelease, SocketID?, FaultDirection?)
    case reset(SocketID?)

    /// The words after `fault`, `break` and `release`, for help and completion.
    package static let faultUsage = "add RULE|list|off N|clear"
    package static let breakUsage = "[FILTER] [upstream|downstream] on POINT|list|off N|clear"
    package static let releaseUsage = "[all|read|BYTES|drop|reset|edit BYTES] [upstream|downstream] [#ID]"

    package static func fault(_ arguments: InstructionText.Arguments) throws(InstructionText.Failure) -> FaultCommand {
        let (word, rest) = arguments.split
        switch word {
        case "add":
            if !FaultProfile.isName(rest) {
                try check(rest) { (text) throws(FaultProblem) in _ = try FaultRule.parse(text) }
            }
            guard !rest.isEmpty else {
                throw InstructionText.Failure("add", "needs a rule, as in add downstream latency 200ms")
            }
            return .add(rest)
        case "list" where rest.isEmpty: return .list
        case "clear" where rest.isEmpty: return .clear
        case "off": return .off(try number(rest, "fault off 2"))
        default: throw arguments.unknown(word, ["add RULE", "list", "off N", "clear"])
        }
    }

    package static func breakpoint(_ arguments: InstructionText.Arguments) throws(InstructionText.Failure)
        -> FaultCommand
    {
        let (word, rest) = arguments.split
        switch word {
        case "list" where rest.isEmpty: return .list
        case "clear" where rest.isEmpty: return .clearBreaks
        case "off": return .breakOff(try number(rest, "break off 1"))
        default:
            try check(arguments.whole) { (text) throws(FaultProblem) in
                try Breakpoint.parse(text).checkFilter()
            }
            return .addBreak(arguments.whole)
        }
    }

    package static func held(_ arguments: InstructionText.Arguments) throws(InstructionText.Failure) -> FaultCommand {
        guard arguments.text.isEmpty else { throw InstructionText.Failure(arguments.text, "held takes no arguments") }
        return .held
    }

    package static func release(_ arguments: InstructionText.Arguments) throws(InstructionText.Failure) -> FaultCommand
    {
        var arguments = arguments
        var (release, socket, direction) = (BreakRelease?.none, SocketID?.none, FaultDirection?.none)
        var resets = false
        while let word = arguments.next() {
            if word.hasPrefix("#") {
                socket = SocketID(label: word.dropFirst())
                guard socket != nil else { throw InstructionText.Failure(word, "is not a connection; write #7") }
            } else if let way = FaultDirection(rawValue: word) {
                direction = way
            } else if release == nil, !resets {
                if word == "reset" { resets = true } else { release = try what(word, &arguments) }
            } else {
                throw arguments.unknown(word, ["one of all, read, BYTES, drop, reset, edit BYTES"])
            }
        }
        return resets ? .reset(socket) : .release(release ?? .all, socket, direction)
    }

    private static func what(
        _ word: String, _ arguments: inout InstructionText.Arguments
    ) throws(InstructionText.Failure) -> BreakRelease {
        switch word {
        case "all": return .all
        case "read": return .read
        case "drop": return .drop
        case "edit":
            let bytes = try arguments.nextQuoted(after: word, "the bytes to send instead")
            return .edit(try bytes.hasPrefix("hex:") ? hex(bytes) : InstructionText.escaped(bytes, word))
        default:
            guard word.first?.isNumber == true, let count = SizeText.parse(word), count > 0 else {
                throw arguments.unknown(word, ["all", "read", "a number of bytes", "drop", "reset", "edit BYTES"])
            }
            return .bytes(count)
        }
    }

    /// `hex:0d0a`
    private static func hex(_ text: String) throws(InstructionText.Failure) -> [UInt8] {
        do throws(FaultProblem) { return try FaultText.parseHex(text) } catch {
            throw InstructionText.Failure(text, error.message)
        }
    }

    private static func number(_ text: String, _ example: String) throws(InstructionText.Failure) -> Int {
        guard let number = Int(text.drop { $0 == "#" }), number > 0 else {
            throw InstructionText.Failure(
                text.isEmpty ? "off" : text, "needs a number from the list, as in \(example)")
        }
        return number
    }

    private static func check(
        _ text: String, _ read: (String) throws(FaultProblem) -> Void
    ) throws(InstructionText.Failure) {
        do throws(FaultProblem) { try read(text) } catch {
            if error.word.isEmpty { throw InstructionText.Failure("column \(error.column)", error.message) }
            throw InstructionText.Failure(error.word, "\(error.message) (column \(error.column))")
        }
    }
}

extension FaultCommand {
    /// The first words of these commands. A test compares them with the rows of `Action.faults`.
    package static let verbs = ["fault", "break", "held", "release"]

    /// Parses a line of the control socket: `fault add ...`, `break on ...`, `release 10`.
    package static func parse(_ line: String) -> Result<FaultCommand, InstructionText.Failure> {
        let verb = String(line.prefix { $0 != " " })
        let arguments = InstructionText.Arguments(
            verb: verb, text: String(line.dropFirst(verb.count).drop { $0 == " " }))
        do throws(InstructionText.Failure) {
            switch verb {
            case "fault": return .success(try fault(arguments))
            case "break": return .success(try breakpoint(arguments))
            case "held": return .success(try held(arguments))
            case "release": return .success(try release(arguments))
            default:
                throw InstructionText.Failure(
                    verb,
                    "write \(verbs.dropLast().joined(separator: ", ")) or \(verbs.last ?? "")"
                        + Spelling.suggestion(for: verb, among: verbs))
            }
        } catch {
            return .failure(error)
        }
    }
}

extension Breakpoint {
    /// Throws if a filter is invalid or a direction is misspelled. It would be text that no connection matches.
    package func checkFilter() throws(FaultProblem) {
        guard !filter.isEmpty else { return }
        let ways = FaultDirection.allCases.map(\.rawValue)
        for word in filter.split(separator: " ").map(String.init) where !word.contains(":") {
            let meant = ways.first { word.count > 1 && $0.hasPrefix(word) }.map { "; did you mean \($0)?" }
            let hint = meant ?? Spelling.suggestion(for: word, among: ways)
            if !hint.isEmpty { throw FaultProblem(word: word, column: 1, message: "no such direction" + hint) }
        }
        guard case .failure(let failure) = Filter.parse(filter) else { return }
        var message = failure.message
        let named = filter + ": "
        if message.hasPrefix(named) { message.removeFirst(named.count) }
        throw FaultProblem(word: filter, column: 1, message: message)
    }
}

extension InstructionText.Arguments {
    /// The first word, and the rest as typed.
    fileprivate var split: (word: String, rest: String) {
        let word = String(whole.prefix { $0 != " " })
        return (word, String(whole.dropFirst(word.count).drop { $0 == " " }))
    }
}
