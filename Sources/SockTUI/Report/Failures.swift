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
