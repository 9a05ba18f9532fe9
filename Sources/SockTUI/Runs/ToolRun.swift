import Dispatch
import Glibc
import InspectorCore
import InspectorShell
import SocketKit

/// Implements `socktui mcp`: answers a client of the Model Context Protocol on standard input and output. Calls run on
/// threads of their own, so that a ping or a cancellation is handled meanwhile.
///
/// After the end of the input, the calls that were received are answered. The run ends early if nobody can read that.
final class ToolRun: Sendable {
    private struct State {
        var desk = ToolDesk(version: CommandTable.version)
        /// What stops each running call.
        var marks: [ToolDesk.Ticket: StopMark] = [:]
    }

    private let options: HostOptions
    private let lints: LintSettings
    private let state = Lock(State())
    private let calls = DispatchQueue(label: "socktui.tools", attributes: .concurrent)
    /// Keeps lines whole and in order.
    private let output = DispatchQueue(label: "socktui.tools.output")
    private let hasEndedCall = DispatchSemaphore(value: 0)

    static func run(_ options: HostOptions, _ lints: LintSettings) -> Int32 {
        ToolRun(options, lints).serve()
    }

    private init(_ options: HostOptions, _ lints: LintSettings) { (self.options, self.lints) = (options, lints) }

    private func serve() -> Int32 {
        var input = LineInput(most: ToolServer.longestLine)
        while let line = input.next() { perform { $0.receive(line) } }
        // Through the queue of the answers, so that the last one is written.
        while !output.sync(execute: { state.withLock { $0.desk.isIdle } }) {
            _ = hasEndedCall.wait(timeout: .now() + .milliseconds(100))
            if !StandardStream.output.hasReader { break }
        }
        guard let problem = input.problem else { return 0 }
        return Program.complain("standard input: \(String(cString: strerror(problem)))", status: .failure)
    }

    /// Carries out what the desk orders. The lines are written before another message or result is handled.
    private func perform(_ step: (inout ToolDesk) -> ToolDesk.Orders) {
        output.sync {
            let (orders, starts) = state.withLock { state in
                let orders = step(&state.desk)
                for ticket in orders.stops { state.marks[ticket]?.stop() }
                let starts = orders.starts.map { ticket, call in
                    let work = ToolWork(options, lints)
                    state.marks[ticket] = work.stopMark
                    return (ticket: ticket, call: call, work: work)
                }
                return (orders, starts)
            }
            for line in orders.lines {
                let outcome = StandardStream.output.write(line.text + "\n")
                if outcome != .written { exit(Program.status(of: outcome, otherwise: 0)) }
            }
            for start in starts {
                calls.async { @Sendable [self] in end(start.ticket, start.work.result(of: start.call)) }
            }
        }
    }

    private func end(_ ticket: ToolDesk.Ticket, _ result: ToolResult) {
        state.withLock { $0.marks[ticket] = nil }
        perform { $0.end(ticket, result) }
        hasEndedCall.signal()
    }
}

/// Standard input, line by line. A line that is too long is cut one byte after the limit.
private struct LineInput {
    private let most: Int
    /// The errno of the read that failed, or `nil` if the input just ended.
    private(set) var problem: Int32?
    private var buffer: [UInt8] = []
    private var hasEnded = false

    init(most: Int) { self.most = most }

    /// Returns the next line without its line ending, or `nil` at the end of the input.
    mutating func next() -> [UInt8]? {
        var isSkipping = false
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                let line = Array(buffer[..<end].prefix(most + 1))
                buffer.removeFirst(end + 1)
                if isSkipping { return [UInt8](repeating: 0x20, count: most + 1) }
                return line
            }
            if buffer.count > most { (isSkipping, buffer) = (true, []) }
            guard !hasEnded, fill() else {
                defer { buffer = [] }
                if isSkipping { return [UInt8](repeating: 0x20, count: most + 1) }
                return buffer.isEmpty ? nil : buffer
            }
        }
    }

    private mutating func fill() -> Bool {
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        var count = 0
        repeat { count = Glibc.read(STDIN_FILENO, &piece, piece.count) } while count < 0 && errno == EINTR
        guard count > 0 else {
            hasEnded = true
            if count < 0 { problem = errno }
            return false
        }
        buffer += piece[..<count]
        return true
    }
}
