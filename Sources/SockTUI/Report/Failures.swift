import InspectorCore
import SocketCore

extension EngineSnapshot {
    /// The failures of requested connections, one sentence each: those that this run opened, and its `partner`. A
    /// relay's connections were requested by its clients.
    func failures(of partner: SocketID? = nil) -> [String] {
        sockets.filter { socket in
            socket.linked == nil && socket.datagrams?.client == nil
                && (socket.role == .client || socket.role == .datagram || socket.id == partner)
        }.compactMap(\.failure)
    }
}

extension SocketSnapshot {
    /// How the connection failed, or `nil` if it is open or has ended in order.
    fileprivate var failure: String? {
        if let sentence = WebSocketWords.failure(self) {
            return "WebSocket: \(peer?.description ?? target): \(sentence)"
        }
        guard let error = closed?.error, error.reason.isFailure else { return nil }
        return error.description
    }
}

extension SocketError.Reason {
    /// Whether a connection with this ending has failed.
    fileprivate var isFailure: Bool {
        switch self {
        case .closedByPeer, .disconnected, .cancelled: false
        case .tls, .badConfiguration, .badParameter, .connectTimeout, .readTimeout, .writeTimeout, .idleTimeout,
            .readMaxedOut, .notConnected, .sendTimeout, .system, .resolver, .webSocket, .other:
            true
        }
    }
}

extension [ProgramInfo] {
    /// What opened files lack, and which hosts are not there, which is not a failure. A capture's losses are told once it
    /// has ended.
    var notes: [String] {
        filter { !$0.isOutside && $0.dropped == nil }.compactMap { program in
            program.missing.map { "\(program.name): \($0)" }
        }
            + flatMap(\.hosts).compactMap { host in
                guard case .lost(let why) = host.state else { return nil }
                return "\(host.name): \(Sanitizer(isASCII: false).text(why))"
            }
    }

    /// Whether hosts were asked for, and none of them is there.
    var lacksAllHosts: Bool { contains { !$0.hosts.isEmpty && $0.hosts.allSatisfy(\.isLost) } }

    /// Reports those that are inspected from outside if none of their sockets can be seen, or none matches the filter.
    func unseen(in snapshot: EngineSnapshot?, _ filter: String) -> [String] {
        guard snapshot?.sockets.isEmpty == true else { return [] }
        if lacksAllHosts { return ["no host can be looked at"] }
        guard filter.isEmpty else { return ["\(filter): no socket matches"] }
        return self.filter(\.isOutside).map { "\($0.title) has no visible sockets" }
    }
}
