import SocketCore

extension SocketEngine {
    /// Calls `answer` on the engine's queue with the traffic kept for these sessions. Does not wait.
    package func requestTraffic(
        of sessions: [SocketID], then answer: @escaping @Sendable ([SocketID: TrafficSnapshot]) -> Void
    ) {
        post { @Sendable [self] in
            answer(
                enter { state in
                    Dictionary(
                        sessions.map { ($0, state.traffic(of: $0) ?? TrafficSnapshot()) },
                        uniquingKeysWith: { first, _ in first })
                })
        }
    }
}
