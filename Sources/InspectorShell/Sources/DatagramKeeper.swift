import InspectorCore
import SocketKit

/// Opens datagram sockets for the user, and retains their handles until they close.
package final class DatagramKeeper: DatagramSocketDelegate, Sendable {
    private let kept = Lock<[ObjectIdentifier: DatagramSocket]>([:])
    private let received: ReceivedBytes?

    package init(_ received: ReceivedBytes? = nil) { self.received = received }

    /// Opens a socket. With `connects`, it has a single peer, but a socket for a multicast group is not connected,
    /// because many members may answer. It only sends to the group. Without `connects`, it is bound to the address and
    /// joins its group.
    func open(
        _ request: OpenRequest, on engine: SocketEngine, connects: Bool,
        then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void
    ) {
        guard case .datagrams(let endpoint, let interface) = request.target else { return }
        engine.post { @Sendable [self] in
            var configuration = DatagramConfiguration()
            // A user who types a broadcast address means it.
            configuration.isBroadcastEnabled = true
            configuration.multicastInterface = interface
            let socket = DatagramSocket(engine: engine, delegate: self, configuration: configuration)
            let operation = connects ? "connect" : "listen"
            let result = EngineSource.result(operation, ended: { socket.closeRecord }) { () throws(SocketError) in
                if let interface { try socket.sendMulticast(onInterface: interface) }
                if connects { try Self.connect(socket, endpoint) } else { try Self.bind(socket, endpoint, interface) }
                socket.show(as: request.target.description)
                return socket.session
            }
            guard case .success(let id) = result else { return then(result) }
            kept.withLock { $0[ObjectIdentifier(socket)] = socket }
            if request.standingRead { engine.post(.read(id, ReadRequest(.available(limit: nil), isStanding: true))) }
            if !request.greeting.isEmpty {
                socket.send(request.greeting, to: endpoint.isMulticast ? endpoint : nil)
            }
            then(result)
        }
    }

    private static func connect(_ socket: DatagramSocket, _ endpoint: Endpoint) throws(SocketError) {
        guard let host = endpoint.host, endpoint.isMulticast else { return try socket.connect(to: endpoint) }
        try socket.bind(to: .udp(host: host.contains(":") ? "::" : "0.0.0.0", port: 0))
    }

    private static func bind(
        _ socket: DatagramSocket, _ endpoint: Endpoint, _ interface: String?
    ) throws(SocketError) {
        try socket.bind(to: endpoint)
        guard let host = endpoint.host, endpoint.isMulticast else { return }
        do throws(SocketError) {
            try socket.joinGroup(host, interface: interface)
        } catch {
            socket.close()
            throw error
        }
    }

    /// Closes all sockets, which removes socket files.
    package func closeAll() {
        for socket in kept.withLock({ Array($0.values) }) { socket.close() }
    }

    package func datagramSocket(_ socket: DatagramSocket, didNotConnect error: SocketError) {
        // It was opened for this peer alone. The row says why there is none.
        socket.close(because: error)
    }

    package func datagramSocket(_ socket: DatagramSocket, didReceive datagram: Datagram) {
        if let id = socket.session { received?.add(datagram.bytes, from: id) }
    }

    package func datagramSocket(_ socket: DatagramSocket, didClose error: SocketError?) {
        _ = kept.withLock { $0.removeValue(forKey: ObjectIdentifier(socket)) }
    }
}
