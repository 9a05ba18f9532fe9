import SocketKit

/// A resolver whose answers wait until the run hands them out.
package final class SimulatedResolver: Resolver {
    private struct Question: Sendable {
        let port: UInt16
        let answer: @Sendable (Result<[SocketAddress], SocketError>) -> Void
    }

    private let chance: Chance
    private let questions = Lock<[Question]>([])

    init(chance: Chance) {
        self.chance = chance
    }

    package func resolve(
        host: String, port: UInt16, answer: @escaping @Sendable (Result<[SocketAddress], SocketError>) -> Void
    ) {
        questions.withLock { $0.append(Question(port: port, answer: answer)) }
    }

    package func addresses(ofInterface name: String) -> [SocketAddress] { [] }

    /// How many wait.
    var waiting: Int { questions.withLock { $0.count } }

    /// Answers one question: mostly with one to four addresses, the engine's own machine among them at times.
    func answerOne() {
        let count = questions.withLock { $0.count }
        guard count > 0 else { return }
        let index = chance.below(count)
        let question = questions.withLock { $0.remove(at: index) }
        guard !chance.oneIn(6) else {
            return question.answer(
                .failure(SocketError(.resolver(code: -2), operation: "getaddrinfo", detail: "no such name")))
        }
        let addresses = (0..<chance.within(1...5)).map { _ -> SocketAddress in
            switch chance.below(4) {
            case 0: .v6(host: "2001:db8::1", port: question.port)
            case 1: .v4(host: Network.host, port: question.port)
            default: .v4(host: "192.0.2.1", port: question.port)
            }
        }
        question.answer(.success(addresses))
    }
}
