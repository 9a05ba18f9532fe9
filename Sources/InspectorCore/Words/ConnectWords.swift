import SocketCore

/// How a connection was established, step by step.
package enum ConnectWords {
    /// `resolved 12ms`, `tried 192.0.2.5 refused 1ms`, `connected to [2001:db8::5] in 31ms (2 of 2)`.
    package static func steps(_ socket: SocketSnapshot) -> [String] {
        guard let connect = socket.connect else { return [] }
        var steps: [String] = []
        if let took = connect.resolvedIn {
            steps.append("resolved \(Format.duration(took))")
        } else if socket.phase == .resolving {
            steps.append("resolving")
        }
        for (index, attempt) in connect.attempts.enumerated() {
            let address = host(attempt.address)
            let took = Format.duration(attempt.duration)
            switch attempt.outcome {
            case .trying: steps.append("trying \(address) \(took)")
            case .failed(let errno): steps.append("tried \(address) \(ErrnoWords.name(errno)) \(took)")
            case .won:
                let count = max(connect.addressCount, connect.attempts.count)
                steps.append("connected to \(address) in \(took)" + (count > 1 ? " (\(index + 1) of \(count))" : ""))
            case .abandoned: steps.append("gave up on \(address) \(took)")
            }
        }
        return steps
    }

    private static func host(_ address: SocketAddress) -> String {
        guard let host = address.host else { return address.description }
        return address.family == .v6 ? "[\(host)]" : host
    }
}
