import Glibc
import InspectorCore
import InspectorShell
import SocketKit

/// What a run without a screen does with the bytes themselves. It checks for expected bytes. With `-`, it sends
/// standard input to the peer and writes what the peer sends to standard output.
final class Conversation {
    /// How the conversation ended.
    enum Verdict: Equatable {
        /// Everything expected was received.
        case met
        /// The reason why an expectation was not met, as a sentence.
        case failed(String)
        /// Standard output accepts no more.
        case broken(StandardStream.Outcome)
    }

    private(set) var verdict: Verdict?
    /// When the current expectation fails, or `nil` if nothing is expected.
    private(set) var deadline: ContinuousClock.Instant?
    /// Whether standard input and output are connected to the peer.
    let carriesBytes: Bool

    private let received: ReceivedBytes
    private let sources: SourceList
    private let pump: InputPump
    private var search: ExpectationSearch
    /// The connection that standard input is sent to, or `nil` if there is none yet.
    private(set) var partner: SocketID?

    init(_ expectations: [Expectation], carriesBytes: Bool, _ received: ReceivedBytes, _ sources: SourceList) {
        search = ExpectationSearch(expectations)
        (self.carriesBytes, self.received, self.sources) = (carriesBytes, received, sources)
        pump = InputPump(sources: sources)
        deadline = search.current.map { .now + $0.limit }
    }

    /// The reason why standard input was not sent in full, or `nil` if no problem is known.
    var inputProblem: String? { pump.problem }

    /// Examines the bytes received since the last call. `put` writes them to standard output.
    func step(_ put: ([UInt8]) -> StandardStream.Outcome) {
        let (chunks, paused) = received.take()
        for (id, bytes) in chunks where verdict == nil {
            if carriesBytes {
                let outcome = put(bytes)
                if outcome != .written { verdict = .broken(outcome) }
            }
            if search.current != nil { advance(search.absorb(bytes, from: id)) }
        }
        for id in paused { sources.perform(.pauseReading(id, false)) }
        guard verdict == nil, let wanted = search.current, let deadline, .now >= deadline else { return }
        fail("\(wanted.text) was not received within \(Format.duration(wanted.limit))")
    }

    /// Notes the connections. With `-`, the first one becomes the partner.
    func look(_ snapshot: EngineSnapshot) {
        guard carriesBytes, partner == nil else { return }
        let listeners = snapshot.sockets.filter { $0.role == .listener }
        if let first = snapshot.sockets.first(where: { $0.role != .listener }) {
            begin(with: first.id)
            for listener in listeners { sources.perform(.close(listener.id, .now)) }
        } else {
            // One at a time, so that a second one is never accepted.
            for listener in listeners { sources.perform(.answerConnection(listener.id, .accept)) }
        }
    }

    /// Examines the bytes for the last time, after every connection has closed.
    func finish() {
        guard verdict == nil, search.current != nil else { return }
        advance(search.finish())
        guard verdict == nil, let wanted = search.current else { return }
        fail("\(wanted.text) was not received, and every connection is closed")
    }

    /// Sends standard input to this connection, unless another one already receives it.
    func begin(with id: SocketID) {
        guard carriesBytes, partner == nil else { return }
        partner = id
        pump.start(id)
    }

    private func advance(_ met: Int) {
        guard met > 0 else { return }
        deadline = search.current.map { .now + $0.limit }
        if search.current == nil { verdict = .met }
    }

    private func fail(_ sentence: String) {
        let tail = search.tail(64)
        let last = tail.isEmpty ? "nothing was received" : "the last bytes received were \"\(EscapedText.show(tail))\""
        verdict = .failed("--expect: \(sentence); \(last)")
    }
}
