import SocketCore

extension EngineSnapshot {
    /// The failures of requested connections, one sentence each. A relay's connections were requested by its clients.
    var failures: [String] {
        sockets.compactMap { socket in
            guard socket.role == .client || socket.role == .datagram, socket.linked == nil,
                socket.datagrams?.client == nil,
                let error = socket.closed?.error, error.reason.isFailure
            else { return nil }
            return error.description
        }
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
