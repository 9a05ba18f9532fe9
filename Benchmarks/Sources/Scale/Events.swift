import Dispatch
import Glibc
import SocketKit
import Synchronization

/// What recording an event costs: lines that are lent, one event for each, by an engine that keeps 4,096 events and by one
/// that keeps none, in turns.
enum Events {
    private static let line = [UInt8](repeating: 0x61, count: 14) + [13, 10]
    private static let lines = 1_000_000

    static func report(repeats: Int = 15) throws {
        var costs: [Int: [Double]] = [:]
        for repetition in 0..<repeats * 2 {
            let capacity = repetition % 2 == 0 ? 4_096 : 0
            costs[capacity, default: []].append(try cost(capacity: capacity))
        }
        let (on, off) = (costs[4_096, default: []], costs[0, default: []])
        let differences = zip(on, off).map { $0 - $1 }.sorted()
        print(
            "a line that is lent: \(shown(on.sorted()[repeats / 2])) ns with its event, \(shown(off.sorted()[repeats / 2])) ns without: "
                + "\(shown(differences[repeats / 2])) ns for each event "
                + "[\(shown(differences[repeats / 4]))-\(shown(differences[repeats * 3 / 4]))]")
    }

    private static func shown(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

    /// Nanoseconds of the engine's thread for each line.
    private static func cost(capacity: Int) throws -> Double {
        var configuration = EngineConfiguration()
        configuration.eventCapacity = capacity
        let engine = SocketEngine(configuration)
        let pair = try Pair(engine, reads: .borrowing(upTo: [13, 10]))
        defer { close(pair.peer) }
        let counter = LineCounter(until: lines)
        pair.socket.delegate = counter
        // Whole lines in each block, so that none has to be gathered.
        let block = Array(repeatElement(line, count: 2_000).joined())
        for _ in 0..<lines / 2_000 + 1 {
            var sent = 0
            while sent < block.count {
                sent += block.withUnsafeBytes { send(pair.peer, $0.baseAddress! + sent, block.count - sent, 0) }
            }
        }
        counter.isDone.wait()
        return counter.nanosecondsPerLine
    }
}

/// Notes the time that its thread has used at the first line and at the last.
private final class LineCounter: AsyncSocketDelegate {
    let isDone = DispatchSemaphore(value: 0)
    private let last: Int
    private let state = Mutex((lines: 0, began: 0.0, ended: 0.0))

    init(until last: Int) {
        self.last = last
    }

    var nanosecondsPerLine: Double { state.withLock { ($0.ended - $0.began) * 1e3 / Double(last) } }

    func socket(_ socket: AsyncSocket, didBorrow bytes: RawSpan, tag: Int) {
        state.withLock { state in
            if state.lines == 0 { state.began = Main.processorTime() }
            state.lines += 1
            guard state.lines == last else { return }
            state.ended = Main.processorTime()
            isDone.signal()
        }
    }
}
