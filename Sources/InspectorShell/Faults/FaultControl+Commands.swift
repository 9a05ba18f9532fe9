import InspectorCore
import SocketKit
import SocketWorkshop

/// The result of a command.
package struct FaultAnswer: Equatable, Sendable {
    package var lines: [String]
    package var isRefusal = false

    /// The answer in one line, for the screen.
    package var line: String { lines.joined(separator: "; ") }
}

extension FaultControl {
    /// Performs a command. The answer arrives at once, or later on the engine's queue.
    package func perform(_ command: FaultCommand, then: @escaping @Sendable (FaultAnswer) -> Void) {
        switch command {
        case .add(let text): then(Self.answer { () throws(FaultProblem) in try add(text, to: carriers) })
        case .addBreak(let text): then(Self.answer { () throws(FaultProblem) in try addBreak(text, to: carriers) })
        case .list: then(FaultAnswer(lines: listing.lines))
        case .held:
            listHeld { then(FaultAnswer(lines: $0.isEmpty ? ["nothing is held"] : $0)) }
        case .off(let number): then(Self.answer(remove(number), "fault \(number) is off"))
        case .breakOff(let number): then(Self.answer(removeBreak(number), "breakpoint \(number) is off"))
        case .clear: then(FaultAnswer(lines: ["\(Format.count(clear(), "fault")) removed"]))
        case .clearBreaks: then(FaultAnswer(lines: ["\(Format.count(clearBreaks(), "breakpoint")) removed"]))
        case .release(let what, let session, let direction): release(what, of: session, direction, then: then)
        case .reset(let session): reset(session, then: then)
        }
    }

    private static func answer(_ refusal: String?, _ done: String) -> FaultAnswer {
        FaultAnswer(lines: [refusal ?? done], isRefusal: refusal != nil)
    }

    private static func answer(_ body: () throws(FaultProblem) -> String) -> FaultAnswer {
        do throws(FaultProblem) {
            return FaultAnswer(lines: [try body()])
        } catch {
            return FaultAnswer(lines: ["\(error)"], isRefusal: true)
        }
    }

    /// Adds the rules and breakpoints of the command line. Returns the reason if that fails, or `nil`.
    package func begin(with options: FaultOptions, opening: [Effect] = []) -> String? {
        do throws(FaultProblem) {
            for rule in options.rules { _ = try add(rule, to: FaultCarriers(opening)) }
        } catch {
            return "--fault: \(error)"
        }
        do throws(FaultProblem) {
            for point in options.breaks { _ = try addBreak(point, to: FaultCarriers(opening)) }
        } catch {
            return "--break: \(error)"
        }
        return nil
    }
}
