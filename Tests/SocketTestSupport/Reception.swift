import Dispatch
import SocketKit

/// A listener that is held as long as this is, and what it took.
package final class Reception {
    /// The engine of both ends.
    package let engine: SocketEngine
    /// The listener.
    package let listener: SocketListener
    /// What the listener told, and the connections that it took.
    package let accepting: Recorder
    /// Where it listens, with the port that the kernel chose.
    package let address: SocketAddress
    /// Its port; 0 for the Unix domain.
    package var port: UInt16 { address.port ?? 0 }
    private var clients: [AsyncSocket] = []

    /// Listens, on 127.0.0.1 and a free port unless said otherwise.
    package init(
        _ endpoint: Endpoint = .tcp(host: "127.0.0.1", port: 0), engine: SocketEngine = SocketEngine(),
        accepting: Recorder = Recorder(), delegateQueue: DispatchQueue? = nil,
        configuration: SocketConfiguration = SocketConfiguration()
    ) throws {
        self.engine = engine
        self.accepting = accepting
        listener = SocketListener(
            engine: engine, delegate: accepting, delegateQueue: delegateQueue, configuration: configuration)
        try listener.listen(on: endpoint)
        guard let address = listener.localAddress else { throw PeerFailure(errno: 0) }
        self.address = address
    }

    /// Begins to connect a socket of the same engine, which is held as long as this is.
    @discardableResult
    package func connect(
        _ recorder: Recorder? = nil, host: String = "127.0.0.1",
        configuration: SocketConfiguration = SocketConfiguration()
    ) throws -> AsyncSocket {
        let socket = AsyncSocket(engine: engine, delegate: recorder, configuration: configuration)
        clients.append(socket)
        try socket.connect(toHost: host, port: port)
        return socket
    }
}

/// A listener on one loopback address, whose port is held and refused on the other.
package final class HalfReception {
    /// The listener.
    package let reception: Reception
    private let held: HeldPort

    /// Listens at `host`, and holds the port at `other`, both numeric or, of `host`, empty.
    package init(
        on host: String, refusing other: String, engine: SocketEngine = SocketEngine(),
        configuration: SocketConfiguration = SocketConfiguration()
    ) throws {
        // The port may be somebody else's on the other address.
        for _ in 0..<20 {
            let reception = try Reception(.tcp(host: host, port: 0), engine: engine, configuration: configuration)
            let address: SocketAddress =
                other.contains(":") ? .v6(host: other, port: reception.port) : .v4(host: other, port: reception.port)
            guard let held = try? HeldPort(address) else { continue }
            self.reception = reception
            self.held = held
            return
        }
        throw PeerFailure(errno: 98)
    }
}
