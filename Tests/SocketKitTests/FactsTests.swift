import Dispatch
import SocketKit
import SocketTestSupport
import Testing

/// What a socket was can be read in every callback, also when its session ended before the callback came.
@Suite(.timeLimit(.minutes(10))) struct FactsTests {
    /// What a socket says of itself within a callback.
    private struct Facts: Sendable {
        var call: Recorder.Call
        var local: SocketAddress?
        var peer: SocketAddress?
        var tls: TLSSnapshot?
        var isSecure: Bool
        var isConnected: Bool
        var record: CloseRecord?

        init(_ socket: AsyncSocket, _ call: Recorder.Call) {
            self.call = call
            (local, peer, tls) = (socket.localAddress, socket.peerAddress, socket.tls)
            (isSecure, isConnected, record) = (socket.isSecure, socket.isConnected, socket.closeRecord)
        }
    }

    @Test(arguments: [false, true]) func addressesAndTheReasonOutliveTheSession(hasQueue: Bool) throws {
        let noted = Lock<[Facts]>([])
        let recorder = Recorder(onCall: { socket, call in
            let facts = Facts(socket, call)
            noted.withLock { $0.append(facts) }
        })
        let pair = try ConnectedPair(recorder: recorder)
        let queue = DispatchQueue(label: "facts")
        if hasQueue {
            queue.suspend()
            pair.socket.delegateQueue = queue
        }
        let (local, peer) = (pair.socket.localAddress, pair.socket.peerAddress)
        try #require(local != nil && peer != nil)
        pair.socket.read(ReadRequest(.length(3), tag: 1))
        pair.closePeer(reset: true)
        #expect(eventually { pair.socket.isDisconnected })
        if hasQueue { queue.resume() }
        #expect(eventually { recorder.isDisconnected })
        let last = try #require(noted.withLock { $0 }.last)
        for facts in noted.withLock({ $0 }) { #expect(facts.local == local && facts.peer == peer, "\(facts.call)") }
        #expect(!last.isConnected && last.record?.error?.reason == .system(errno: 104) && last.record?.readsLost == 1)
        try pair.socket.connect(to: .unix(path: "/nonexistent/socket"))
        #expect(pair.socket.peerAddress == nil, "another session has begun")
        #expect(eventually { pair.socket.closeRecord?.error?.reason == .system(errno: 2) })
    }

    @Test(.enabled(if: Certificates.problem == nil), arguments: [false, true])
    func TLSOutlivesTheSession(hasQueue: Bool) throws {
        let noted = Lock<[Facts]>([])
        let serverSide = Recorder(onCall: { socket, call in
            let facts = Facts(socket, call)
            noted.withLock { $0.append(facts) }
        })
        let queue = DispatchQueue(label: "facts")
        let accepting = Recorder(onAccept: { socket in
            socket.delegate = serverSide
            socket.delegateQueue = hasQueue ? queue : nil
        })
        if hasQueue { queue.suspend() }
        let engine = SocketEngine()
        let listener = SocketListener(engine: engine, delegate: accepting)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: .testServer())
        // It leaves as soon as it is secure, in the same turn where chance has it so.
        let clientSide = Recorder(onCall: { socket, call in if call == .secured { socket.disconnect() } })
        let port = listener.localAddress?.port ?? 0
        var clients: [AsyncSocket] = []
        for _ in 0..<20 {
            let client = AsyncSocket(engine: engine, delegate: clientSide)
            try client.connect(to: .tcp(host: "127.0.0.1", port: port), tls: .testClient())
            clients.append(client)
        }
        #expect(eventually { accepting.sockets.count == 20 && accepting.sockets.allSatisfy(\.isDisconnected) })
        if hasQueue { queue.resume() }
        #expect(eventually { serverSide.calls.filter { $0 == .disconnected(.closedByPeer) }.count == 20 })
        for facts in noted.withLock({ $0 }) {
            #expect(facts.isSecure && facts.tls?.version == "TLSv1.3" && facts.tls?.cipher != nil, "\(facts.call)")
            #expect(facts.peer != nil && facts.local != nil)
        }
        #expect(noted.withLock { $0.filter { $0.call == .secured }.count } == 20)
    }

    @Test func anAcceptedConnectionThatIsGoneStillHasItsPeer() throws {
        let queue = DispatchQueue(label: "facts")
        queue.suspend()
        let peers = Lock<[SocketAddress?]>([])
        let accepting = Recorder(onAccept: { socket in
            let peer = socket.peerAddress
            peers.withLock { $0.append(peer) }
        })
        let reception = try Reception(accepting: accepting, delegateQueue: queue)
        let client = try RawPeer(port: reception.port)
        #expect(eventually { reception.engine.snapshot().sockets.contains { $0.role == .accepted } })
        client.end(reset: true)
        #expect(
            eventually { reception.engine.snapshot().sockets.contains { $0.role == .accepted && $0.closed != nil } })
        queue.resume()
        #expect(eventually { peers.withLock { $0.count } == 1 })
        #expect(peers.withLock { $0.first??.port } != nil)
    }

    @Test func aListenerThatStoppedSaysWhereItListened() throws {
        let reception = try Reception()
        #expect(reception.listener.closeRecord == nil)
        reception.listener.stop()
        #expect(reception.listener.localAddress == reception.address)
        #expect(reception.listener.closeRecord?.mode == .now)
        try reception.listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        #expect(reception.listener.closeRecord == nil)
    }

    @Test func aDatagramSocketThatClosedHasItsAddresses() throws {
        let noted = Lock<[[SocketAddress?]]>([])
        let recorder = DatagramRecorder(onCall: { socket, call in
            let facts = [socket.localAddress, socket.peerAddress]
            if case .closed = call { noted.withLock { $0.append(facts) } }
        })
        let engine = SocketEngine()
        let peer = DatagramSocket(engine: engine)
        try peer.bind(to: .udp(host: "127.0.0.1", port: 0))
        let port = try #require(peer.localAddress?.port)
        let socket = DatagramSocket(engine: engine, delegate: recorder)
        try socket.connect(to: .udp(host: "127.0.0.1", port: port))
        #expect(eventually { socket.isConnected })
        let facts = [socket.localAddress, socket.peerAddress]
        #expect(!facts.contains(nil) && socket.closeRecord == nil)
        socket.close()
        #expect(eventually { noted.withLock { $0.count } == 1 })
        #expect(noted.withLock { $0.first } == facts)
        #expect(socket.closeRecord != nil && socket.isClosed && !socket.isConnected)
    }

    @Test(arguments: [false, true]) func whatAWebSocketWasIsKnownAtItsEnd(hasQueue: Bool) throws {
        struct Facts: Sendable {
            var addresses: [SocketAddress?]
            var report: WebSocketCloseReport?
            var agreement: WebSocketAgreement?
            var picture: WebSocketPicture?
        }
        let noted = Lock<[Facts]>([])
        let serverSide = WebSocketRecorder(onCall: { webSocket, call in
            guard case .closed = call else { return }
            let facts = Facts(
                addresses: [webSocket.localAddress, webSocket.peerAddress], report: webSocket.closeReport,
                agreement: webSocket.agreement, picture: webSocket.picture)
            noted.withLock { $0.append(facts) }
        })
        let pair = try WebSocketPair(serverSide: serverSide)
        let queue = DispatchQueue(label: "facts")
        if hasQueue {
            queue.suspend()
            pair.server.delegateQueue = queue
        }
        let addresses = [pair.server.localAddress, pair.server.peerAddress]
        pair.client.abort()
        #expect(eventually { pair.server.session == nil })
        if hasQueue { queue.resume() }
        #expect(eventually { noted.withLock { $0.count } == 1 })
        let facts = try #require(noted.withLock { $0.first })
        #expect(facts.addresses == addresses && !addresses.contains(nil))
        #expect(facts.report?.code == .abnormal && facts.agreement != nil && facts.picture?.stage == .closed)
    }
}
