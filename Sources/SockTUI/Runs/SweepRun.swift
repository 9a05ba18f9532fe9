import InspectorCore
import InspectorShell
import SocketExport
import SocketKit
import SocketWorkshop

/// Sweeps a server with a recorded request, from the file to the exit status: 0, 1 if something was found or failed, 2
/// if the request doesn't fit the file.
enum SweepRun {
    static func run(_ request: ReplayRequest) -> Int32 {
        do throws(Refusal) {
            let (row, conversation, isDamaged) = try request.session()
            let exchanges = RecordedExchange.all(of: conversation)
            guard exchanges.indices.contains(request.exchange - 1) else {
                throw Refusal(sentence: "--exchange: \(row.id) has \(exchanges.count) exchanges", status: .usage)
            }
            let exchange = exchanges[request.exchange - 1]
            guard !exchange.request.isEmpty else {
                let next = exchanges.count > 1 ? "; write --exchange 2" : ""
                throw Refusal(
                    sentence: "\(row.id): the server spoke first, so there is no request to split\(next)",
                    status: .usage)
            }
            guard !exchange.answer.isEmpty else { throw Refusal(sentence: "\(row.id): the request was not answered") }
            if exchanges.count > 1 {
                StandardStream.error.writeLine(
                    "socktui: \(row.id) has \(exchanges.count) exchanges; this is \(request.exchange), and --exchange "
                        + "chooses another")
            }
            return max(isDamaged ? 1 : 0, try report(request, row, exchanges))
        } catch {
            return Program.complain(error)
        }
    }

    private static func report(
        _ request: ReplayRequest, _ row: ExportRow, _ exchanges: [RecordedExchange]
    ) throws(Refusal) -> Int32 {
        let swept = Awaited.result { @Sendable in
            let sweeper = Sweeper(request, exchanges)
            return await sweeper.run()
        }
        StandardStream.error.rewriteLine("")
        guard let tally = swept.tally else { throw Refusal(sentence: swept.problem ?? "no answer") }
        let summary = SweepSummary(
            tally, session: "\(row.id)", address: request.address, exchange: request.exchange,
            exchanges: exchanges.count, request: exchanges[request.exchange - 1].request, parallel: swept.parallel,
            problem: swept.problem)
        let report = SweepReport(summary)
        let text = request.isJSON ? report.json.map(\.text) : report.lines
        let outcome = StandardStream.output.write(text.joined(separator: "\n") + "\n")
        if let problem = swept.problem { _ = Program.complain(problem, status: .failure) }
        return Program.status(of: outcome, otherwise: summary.hasFinding || swept.problem != nil ? 1 : 0)
    }
}
