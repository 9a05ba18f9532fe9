import SocketCore

extension EngineSnapshot {
    /// Why connections that were asked for failed, one sentence each; those of a relay were asked for by its clients.
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
    /// Whether a connection that ends so is one that failed.
    fileprivate var isFailure: Bool {
        switch self {
        case .closedByPeer, .disconnected, .cancelled: false
        case .tls, .badConfiguration, .badParameter, .connectTimeout, .readTimeout, .writeTimeout, .idleTimeout,
            .readMaxedOut, .notConnected, .sendTimeout, .system, .resolver, .webSocket, .other:
            true
        }
    }
}
