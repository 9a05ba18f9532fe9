import SocketKit
import SocketTestSupport
import Testing

/// Statements 89 to 91, 97 and 98: TLS as a barrier in both queues.
@Suite(.enabled(if: Certificates.problem == nil, "no certificates: is openssl there?"), .timeLimit(.minutes(10)))
struct TLSBarrierStatements {
    @Test func statement089_whatIsQueuedBeforeGoesInClearAndWhatIsQueuedBehindEncrypted() throws {
        let pair = try TLSPair()
        pair.server.read(ReadRequest(.length(5), tag: 1))
        pair.client.write(Array("plain".utf8), tag: 1)
        try pair.startTLS()
        pair.client.write(Array("secret".utf8), tag: 2)
        pair.server.read(ReadRequest(.length(6), tag: 2))
        #expect(eventually { pair.serverSide.calls.count == 4 && pair.clientSide.calls.count == 4 })
        #expect(pair.serverSide.calls == [.connected, .text("plain", tag: 1), .secured, .text("secret", tag: 2)])
        #expect(pair.clientSide.calls == [.connected, .wrote(tag: 1), .secured, .wrote(tag: 2)])
        let wire = pair.up.copy
        #expect(wire.starts(with: Array("plain".utf8)))
        // A handshake record of TLS follows at once, and the rest is nowhere in clear.
        #expect(wire[5...].starts(with: [22, 3]))
        #expect(!String(decoding: wire, as: UTF8.self).contains("secret"))
    }

    @Test func statement090_aReadThatIsQueuedBeforeCompletesInClear() throws {
        let pair = try TLSPair()
        pair.client.read(ReadRequest(.delimiter([13, 10], limit: 100), tag: 1))
        try pair.client.startTLS(.testClient())
        pair.client.read(ReadRequest(.delimiter([13, 10], limit: 100), tag: 2))
        pair.engine.fence()
        #expect(pair.client.tls?.phase == .queued)
        #expect(pair.up.copy.isEmpty)
        pair.server.write(Array("220 ok\r\n".utf8), tag: 1)
        try pair.server.startTLS(.testServer())
        pair.server.write(Array("250 hello\r\n".utf8), tag: 2)
        #expect(eventually { pair.clientSide.calls.count == 4 })
        #expect(
            pair.clientSide.calls == [
                .connected, .text("220 ok\r\n", tag: 1), .secured, .text("250 hello\r\n", tag: 2),
            ])
        #expect(pair.serverSide.calls == [.connected, .wrote(tag: 1), .secured, .wrote(tag: 2)])
    }

    @Test func statement091_bytesThatWereReadAheadAreFedToTheHandshake() throws {
        let settings = TLSSettings.testServer()
        let serverSide = Recorder(onCall: { socket, call in
            guard call == .text("STARTTLS\n", tag: 1) else { return }
            try? socket.startTLS(settings)
            socket.read(ReadRequest(.length(2), tag: 2))
        })
        let pair = try TLSPair(serverSide: serverSide)
        // The line and the ClientHello come in one segment, so that the read of the line takes both.
        pair.up.set { $0.least = 100 }
        pair.server.read(ReadRequest(.delimiter([10], limit: 4_096), tag: 1))
        pair.client.write(Array("STARTTLS\n".utf8))
        try pair.client.startTLS(.testClient())
        pair.client.write(Array("hi".utf8))
        #expect(eventually { serverSide.calls.count == 4 })
        #expect(serverSide.calls == [.connected, .text("STARTTLS\n", tag: 1), .secured, .text("hi", tag: 2)])
        let began = pair.engine.snapshot(SnapshotRequest(eventsFrom: 0)).events.filter { $0.kind == .tlsBegan }
        #expect(began.contains { $0.socket == pair.server.session && $0.first > 100 })
    }

    @Test func statement097_aSecondOneIsRefusedAndOneBeforeTheConnectRunsBehindIt() throws {
        let serverSide = Recorder()
        let settings = TLSSettings.testServer()
        let reception = try Reception(
            accepting: Recorder(onAccept: { socket in
                socket.delegate = serverSide
                try? socket.startTLS(settings)
                socket.read(ReadRequest(.length(4), tag: 1))
            }))
        let clientSide = Recorder()
        let client = AsyncSocket(engine: reception.engine, delegate: clientSide)
        // Both calls in one piece of work: the connect cannot complete between them.
        let refusal = try reception.engine.queue.sync { () throws -> SocketError? in
            try client.connect(toHost: "127.0.0.1", port: reception.port)
            try client.startTLS(.testClient(nil))
            client.write(Array("data".utf8), tag: 2)
            #expect(client.isConnected == false && client.tls?.phase == .queued)
            return #expect(throws: SocketError.self) { try client.startTLS(.testClient(nil)) }
        }
        #expect(refusal?.reason == .badConfiguration && refusal?.detail.contains("already") == true)
        #expect(eventually { serverSide.calls.count == 2 })
        #expect(clientSide.calls == [.connected, .secured, .wrote(tag: 2)])
        #expect(serverSide.calls == [.secured, .text("data", tag: 1)])
        let late = #expect(throws: SocketError.self) { try client.startTLS(.testClient(nil)) }
        #expect(late?.reason == .badConfiguration)
        #expect(client.isSecure)
    }

    enum End: CaseIterable {
        case inTheHandshake, whileReadsWait, whileWritesWait
    }

    @Test(arguments: End.allCases)
    func statement098_theEndOfTheStreamBeforeTLSIsSetUpIsAnAbort(_ end: End) throws {
        let pair = try ConnectedPair()
        if end == .whileReadsWait { pair.socket.read(ReadRequest(.length(3), tag: 1)) }
        if end == .whileWritesWait { pair.socket.write([UInt8](repeating: 7, count: 16 << 20), tag: 1) }
        try pair.socket.startTLS(.testClient())
        pair.socket.write([1], tag: 2)
        if end == .inTheHandshake { #expect(try pair.peerReceives(5).starts(with: [22, 3])) }
        if end == .whileWritesWait { #expect(eventually { pair.picture?.flags.contains(.startingReadTLS) == true }) }
        pair.peerShutsWrite()
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.lastError?.reason == .tls(.closedAbort))
        #expect(pair.recorder.lastError?.code == -9806)
        #expect(pair.recorder.failures.map(\.tag) == (end == .inTheHandshake ? [2] : [1, 2]))
        #expect(!pair.recorder.calls.contains(.secured))
    }
}
