import Glibc
import InspectorCore
import SocketKit

/// What a run without a screen does with the bytes themselves: it looks for what is expected, and with `-` carries standard
/// input to the peer and what the peer sends to standard output.
final class Conversation {
    /// How it ended.
    enum Verdict: Equatable {
        /// All that was expected came.
        case met
        /// Why it did not, as a sentence.
        case failed(String)
        /// Standard output takes no more.
        case broken(StandardStream.Outcome)
    }

    private(set) var verdict: Verdict?
    /// When the current expectation fails; nil: nothing is expected.
    private(set) var deadline: ContinuousClock.Instant?
    /// Whether standard input and output are the peer's.
    let carriesBytes: Bool

    private let received: ReceivedBytes
    private let sources: SourceList
    private let pump: InputPump
    private var search: ExpectationSearch
    /// The connection that standard input goes to; nil: there is none yet.
    private var partner: SocketID?

    init(_ expectations: [Expectation], carriesBytes: Bool, _ received: ReceivedBytes, _ sources: SourceList) {
        search = ExpectationSearch(expectations)
        (self.carriesBytes, self.received, self.sources) = (carriesBytes, received, sources)
        pump = InputPump(sources: sources)
        deadline = search.current.map { .now + $0.limit }
    }

    /// Why not all of standard input was sent; nil: nothing is known against it.
    var inputProblem: String? { pump.problem }

    /// Looks at what has come since the last time; `put` writes it to standard output.
    func step(_ put: ([UInt8]) -> StandardStream.Outcome) {
        let (chunks, paused) = received.take()
        for (id, bytes) in chunks where verdict == nil {
            if carriesBytes {
                let outcome = put(bytes)
                if outcome != .written { verdict = .broken(outcome) }
            }
            if search.current != nil { advance(search.take(bytes, from: id)) }
        }
        for id in paused { sources.perform(.pauseReading(id, false)) }
        guard verdict == nil, let wanted = search.current, let deadline, .now >= deadline else { return }
        fail("\(wanted.text) was not received within \(Format.duration(wanted.limit))")
    }

    /// Takes note of the connections: with `-`, the first one is the partner.
    func look(_ snapshot: EngineSnapshot) {
        guard carriesBytes, partner == nil else { return }
        let listeners = snapshot.sockets.filter { $0.role == .listener }
        if let first = snapshot.sockets.first(where: { $0.role != .listener }) {
            begin(with: first.id)
            for listener in listeners { sources.perform(.close(listener.id, .now)) }
        } else {
            // One at a time, so that no second one is taken.
            for listener in listeners { sources.perform(.answerConnection(listener.id, .accept)) }
        }
    }

    /// Looks for the last time, since every connection is closed.
    func finish() {
        guard verdict == nil, search.current != nil else { return }
        advance(search.finish())
        guard verdict == nil, let wanted = search.current else { return }
        fail("\(wanted.text) was not received, and every connection is closed")
    }

    /// Sends standard input to this connection, unless another has it.
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
        let last = tail.isEmpty ? "nothing came" : "the last that came is \"\(EscapedText.show(tail))\""
        verdict = .failed("--expect: \(sentence); \(last)")
    }
}
