import InspectorCore
import InspectorShell
import SocketKit
import SocketWorkshop

/// Replays a recorded client, from the file to the exit status: 0, 1 if something differs or fails, 2 if the request
/// doesn't fit the file.
enum ReplayRun {
    static func run(_ request: ReplayRequest) -> Int32 {
        do throws(Refusal) {
            let (row, conversation, isDamaged) = try request.session()
            let plan = ReplayPlan(conversation)
            guard plan.sent > 0 || !plan.answer.isEmpty else {
                throw Refusal(sentence: "\(row.id): no bytes were sent or received")
            }
            let pattern = try pattern(of: plan.answer, request)
            let result = Awaited.result { @Sendable in await play(plan, pattern, request) }
            StandardStream.error.rewriteLine("")
            let report = ReplayReport(result, of: plan, session: "\(row.id)", address: request.address)
            let text = request.isJSON ? report.json.text : report.lines.joined(separator: "\n")
            let outcome = text.isEmpty ? .written : StandardStream.output.write(text + "\n")
            if let problem = result.problem { _ = Program.complain(problem, status: .failure) }
            return Program.status(of: outcome, otherwise: result.isEqual && !isDamaged ? 0 : 1)
        } catch {
            return Program.complain(error)
        }
    }

    private static func play(_ plan: ReplayPlan, _ pattern: AnswerPattern, _ request: ReplayRequest) async
        -> ReplayResult
    {
        let player = ReplayPlayer(plan, pattern, request)
        return await player.play()
    }

    private static func pattern(of answer: [UInt8], _ request: ReplayRequest) throws(Refusal) -> AnswerPattern {
        switch request.match {
        case .exact, nil: return AnswerPattern(answer)
        case .length: return AnswerPattern(lengthOf: answer)
        case .pattern:
            do throws(HoleRule.Unused) {
                return try AnswerPattern(answer, rules: request.holes)
            } catch {
                let text = request.holeTexts[error.index]
                throw Refusal(
                    sentence: "--hole: \(text) does not occur in the \(error.length) bytes of the recorded answers",
                    status: .usage)
            }
        }
    }
}
