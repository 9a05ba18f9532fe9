import Dispatch
import SocketKit
import Synchronization

// An echo server whose events go to a log and to counters, as they happen: event-log [HOST:PORT]
//
// `Log` and `Counters` stand for swift-log's Logger and swift-metrics' Counter, which a package of its own would depend on:
// `logger.log(level:_:metadata:)` and `Counter(label:dimensions:).increment(by:)` take the same values.

/// Lines of key=value on standard output.
struct Log: Sendable {
    enum Level: String { case debug, warning }

    func log(level: Level, _ message: String, metadata: [String: String]) {
        let pairs = metadata.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
        print("level=\(level.rawValue) message=\"\(message)\" \(pairs.joined(separator: " "))")
    }
}

/// Counts by name.
final class Counters: Sendable {
    private let values = Mutex<[String: UInt64]>([:])

    func increment(_ name: String, by amount: UInt64 = 1) { values.withLock { $0[name, default: 0] += amount } }

    var lines: [String] { values.withLock { $0.sorted { $0.key < $1.key }.map { "\($0) \($1)" } } }
}

let (log, counters) = (Log(), Counters())
let engine = SocketEngine()
let observation = engine.observeEvents(on: DispatchQueue(label: "events")) { batch in
    if batch.lost > 0 {
        counters.increment("socket_events_lost_total", by: batch.lost)
        log.log(level: .warning, "events lost", metadata: ["count": "\(batch.lost)"])
    }
    for event in batch.events {
        counters.increment("socket_events_total{kind=\"\(event.kind)\"}")
        let level: Log.Level = [.acceptFailed, .readFailed, .writeFailed].contains(event.kind) ? .warning : .debug
        log.log(level: level, "\(event.kind)", metadata: ["socket": "\(event.socket)", "tag": "\(event.tag)"])
    }
}

var configuration = SocketConfiguration()
configuration.allowsHalfOpen = true  // what came before the peer's FIN is answered
let listener = SocketListener(engine: engine, configuration: configuration)
let connections = listener.connections
try listener.listen(on: Endpoint.parse(CommandLine.arguments.dropFirst().first ?? "127.0.0.1:7002"))
for try await socket in connections {
    Task {
        for try await chunk in socket.chunks(timeout: .seconds(60)) { try await socket.send(chunk) }
        try await socket.disconnectAndWait(.afterWriting)
        counters.lines.forEach { print($0) }
    }
}
withExtendedLifetime(observation) {}
