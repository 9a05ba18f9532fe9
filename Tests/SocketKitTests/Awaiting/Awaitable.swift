import SocketKit
import SocketTestSupport

/// Everything that can be awaited, by its name in the source; the soundness tests compare the names with the sources, so
/// that nothing new is forgotten here.
enum Awaitable: String, CaseIterable, Sendable {
    case connect = "AsyncSocket.connect(to:on:timeout:configuration:)"
    case connectSecurely = "AsyncSocket.connect(to:on:timeout:configuration:tls:)"
    case secure = "AsyncSocket.secure(_:)"
    case bytes = "AsyncSocket.read(_:)"
    case send = "AsyncSocket.send(_:timeout:tag:)"
    case room = "AsyncSocket.waitUntilWritable()"
    case closed = "AsyncSocket.waitUntilClosed()"
    case disconnect = "AsyncSocket.disconnectAndWait(_:)"
    case withConnection = "AsyncSocket.withConnection(to:on:timeout:tls:configuration:isolation:_:)"
    case shutdown = "SocketEngine.shutdown(within:)"
    case reads = "SocketChunks.Iterator.next"
    case connections = "SocketConnections.Iterator.next"
    case openWebSocket = "WebSocket.connect(to:on:configuration:)"
    case open = "WebSocket.connect(to:)"
    case sendMessage = "WebSocket.send(_:)"
    case ping = "WebSocket.ping(_:)"
    case webSocketRoom = "WebSocket.waitUntilWritable()"
    case finish = "WebSocket.close(_:reason:)"
    case messages = "WebSocketMessages.Iterator.next"
    case chunks = "WebSocketChunks.Iterator.next"
    case part = "WebSocketStream.send(_:)"
    case webSockets = "WebSocketConnections.Iterator.next"
    case sendDatagram = "DatagramSocket.send(_:to:timeout:)"
    case datagrams = "Datagrams.Iterator.next"

    /// An `await` to which nobody gives an answer.
    struct Unanswered {
        /// Awaits; throws or returns `false` once it is cancelled.
        var run: @Sendable () async throws -> Bool
        /// What has to live until then.
        var needs: [Any] = []
    }

    /// An `await` of this kind to which the peer, or the resolver, never gives an answer.
    func unanswered() throws -> Unanswered {
        switch self {
        case .connect: Self.connecting()
        case .connectSecurely: try Self.connectingSecurely()
        case .secure, .bytes, .send, .room, .reads, .closed, .disconnect, .shutdown: try onSocket()
        case .withConnection: try Self.withConnection()
        case .connections: try Self.accepting()
        case .openWebSocket, .open: try opening()
        case .sendMessage, .ping, .webSocketRoom, .finish, .messages, .chunks, .part: try onWebSocket()
        case .webSockets: try Self.acceptingWebSockets()
        case .sendDatagram: Self.sendingDatagram()
        case .datagrams: try Self.receivingDatagrams()
        }
    }

    private static func connecting() -> Unanswered {
        let engine = SocketEngine.with(resolver: SilentResolver())
        return Unanswered(run: {
            _ = try await AsyncSocket.connect(to: .tcp(host: "nobody.test", port: 1), on: engine)
            return true
        })
    }

    private static func connectingSecurely() throws -> Unanswered {
        let listener = try RawListener()
        var settings = TLSSettings.testClient()
        settings.handshakeTimeout = nil
        let endpoint = Endpoint.tcp(host: "127.0.0.1", port: listener.port)
        let run = { @Sendable [settings] in
            _ = try await AsyncSocket.connect(to: endpoint, on: SocketEngine(), tls: settings)
            return true
        }
        return Unanswered(run: run, needs: [listener])
    }

    private func onSocket() throws -> Unanswered {
        var configuration = SocketConfiguration()
        configuration.writeWatermarks = Watermarks(low: 1, high: 2)
        let pair = try ConnectedPair(.unix, configuration: configuration)
        let socket = pair.socket
        if [.room, .disconnect, .shutdown].contains(self) { socket.write([UInt8](repeating: 1, count: 2_000_000)) }
        var settings = TLSSettings.testClient()
        settings.handshakeTimeout = nil
        let run = { @Sendable [self, settings] in
            switch self {
            case .secure: try await socket.secure(settings)
            case .bytes: _ = try await socket.read(ReadRequest(.length(1)))
            case .send: try await socket.send([UInt8](repeating: 1, count: 2_000_000))
            case .room: try await socket.waitUntilWritable()
            case .closed: try await socket.waitUntilClosed()
            case .disconnect: try await socket.disconnectAndWait(.afterWriting)
            case .shutdown:
                await socket.engine.shutdown()
                return false
            default:
                for try await _ in socket.lines() {}
                return false
            }
            return true
        }
        return Unanswered(run: run, needs: [pair])
    }

    private static func withConnection() throws -> Unanswered {
        let listener = try RawListener()
        let endpoint = Endpoint.tcp(host: "127.0.0.1", port: listener.port)
        let run = { @Sendable in
            try await AsyncSocket.withConnection(to: endpoint, on: SocketEngine()) { socket in
                _ = try await socket.read(ReadRequest(.length(1)))
            }
            return true
        }
        return Unanswered(run: run, needs: [listener])
    }

    private static func accepting() throws -> Unanswered {
        let reception = try Reception()
        let connections = reception.listener.connections
        let run = { @Sendable in
            for try await _ in connections { return true }
            return false
        }
        return Unanswered(run: run, needs: [reception])
    }

    private func opening() throws -> Unanswered {
        let listener = try RawListener()
        let url = "ws://127.0.0.1:\(listener.port)/"
        let run = { @Sendable [self] in
            let engine = SocketEngine()
            var configuration = WebSocketConfiguration()
            configuration.openTimeout = nil
            if self == .openWebSocket {
                _ = try await WebSocket.connect(to: url, on: engine, configuration: configuration)
            } else {
                let webSocket = WebSocket(engine: engine, configuration: configuration)
                try await webSocket.connect(to: try WebSocketURL.parse(url))
            }
            return true
        }
        return Unanswered(run: run, needs: [listener])
    }

    private func onWebSocket() throws -> Unanswered {
        let raw = try RawListener()
        var configuration = WebSocketConfiguration()
        configuration.compression = nil
        if self == .chunks { configuration.settings.delivery = .chunks }
        // Nothing ends it but the cancellation.
        configuration.settings.closeTimeout = .seconds(3_600)
        configuration.settings.pongTimeout = .seconds(3_600)
        let webSocket = WebSocket(engine: SocketEngine(), configuration: configuration)
        try webSocket.connect(to: "ws://127.0.0.1:\(raw.port)/")
        let peer = try raw.acceptWebSocket().peer
        let large = [UInt8](repeating: 1, count: 30_000_000)
        if self == .webSocketRoom || self == .part { webSocket.write(large) }
        let stream = self == .part ? webSocket.stream(.binary) : nil
        let run = { @Sendable [self] in
            switch self {
            case .sendMessage: try await webSocket.send(large)
            case .ping: _ = try await webSocket.ping()
            case .webSocketRoom: try await webSocket.waitUntilWritable()
            case .finish: return await webSocket.close() != nil
            case .chunks: for try await _ in webSocket.chunks {}
            case .part: try await stream?.send([1])
            default: for try await _ in webSocket.messages {}
            }
            return true
        }
        return Unanswered(run: run, needs: [peer])
    }

    private static func acceptingWebSockets() throws -> Unanswered {
        let listener = WebSocketListener(engine: SocketEngine())
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        return Unanswered(run: {
            for try await _ in listener.webSockets { return true }
            return false
        })
    }

    private static func sendingDatagram() -> Unanswered {
        let socket = DatagramSocket(engine: .with(resolver: SilentResolver()))
        return Unanswered(run: {
            try await socket.send([1], to: .udp(host: "nobody.test", port: 1))
            return true
        })
    }

    private static func receivingDatagrams() throws -> Unanswered {
        let socket = DatagramSocket(engine: SocketEngine())
        try socket.bind(to: .udp(host: "127.0.0.1", port: 0))
        return Unanswered(run: {
            for try await _ in try socket.datagrams() { return true }
            return false
        })
    }
}

/// A resolver that never answers.
private final class SilentResolver: Resolver {
    func resolve(
        host: String, port: UInt16, answer: @escaping @Sendable (Result<[SocketAddress], SocketError>) -> Void
    ) {}
}
