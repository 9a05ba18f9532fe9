import SocketKit
import SocketTestSupport
import Testing

/// Statements 92 to 96 and 103: who the peer is, and what both sides agree on.
@Suite(.enabled(if: Certificates.problem == nil, "no certificates: is openssl there?"), .timeLimit(.minutes(10)))
struct TLSTrustStatements {
    @Test func statement092_aSelfSignedServerIsRefusedUnlessSomethingElseIsSaid() throws {
        let pair = try TLSPair()
        try pair.startTLS(client: .client(serverName: "localhost"), server: .testServer("self"))
        pair.client.write([1], tag: 1)
        #expect(eventually { pair.clientSide.isDisconnected && pair.serverSide.isDisconnected })
        guard case .tls(.untrusted(let code, let text))? = pair.clientSide.lastError?.reason else {
            Issue.record("\(String(describing: pair.clientSide.lastError))")
            return
        }
        #expect(code == 18 && text.contains("self-signed"))
        #expect(pair.clientSide.lastError?.detail.contains("certificate verify failed: self-signed") == true)
        #expect(pair.clientSide.lastError?.domain == "kCFStreamErrorDomainSSL")
        #expect(!pair.clientSide.calls.contains(.secured))
        #expect(pair.serverSide.lastError?.reason == .tls(.alert(48, name: "unknown_ca")))
        // The handshake may have failed before the write was asked for, which then fails by itself.
        #expect(eventually { pair.clientSide.failures.map(\.tag) == [1] })
    }

    @Test func statement093_theHandshakeWaitsForWhoeverJudgesAndTheVerdictCountsOnce() throws {
        let time = ManualTime()
        let clientSide = Recorder(trust: { _ in .later })
        let pair = try TLSPair(engine: SocketEngine.with(time: time), clientSide: clientSide)
        let settings = TLSSettings.testClient().with { $0.trustEvaluator = .delegate }
        try pair.startTLS(client: settings, server: .testServer().with { $0.handshakeTimeout = nil })
        #expect(eventually { clientSide.questions.count == 1 })
        pair.engine.fence()
        let turns = pair.engine.snapshot().counters.turns
        time.pass(.seconds(5))
        time.pass(.seconds(30))
        pair.engine.fence()
        #expect(!clientSide.calls.contains(.secured) && pair.client.tls?.phase == .asking)
        // The two above, and those of the questions themselves: nothing turns by itself.
        #expect(pair.engine.snapshot().counters.turns - turns < 20)
        let question = try #require(clientSide.questions.first)
        #expect(question.problem == nil && question.chain.first?.subject == "CN=server")
        pair.client.answerTrust(of: question.question, .accept)
        pair.client.answerTrust(of: question.question, .refuse)
        #expect(pair.isSecured)
        // The 35 seconds are the delegate's.
        #expect(try #require(pair.client.tls?.handshakeTime) < .seconds(5))
        #expect(clientSide.calls == [.connected, .trust(problem: nil), .secured])
        #expect(pair.client.tls?.verification == .acceptedByHand(nil))
        pair.client.disconnect()
        pair.client.answerTrust(of: question.question, .refuse)
        pair.engine.fence()
        #expect(clientSide.lastError == nil)

        let refusing = Recorder(trust: { _ in .refuse })
        let second = try TLSPair(clientSide: refusing)
        try second.startTLS(client: settings)
        #expect(eventually { refusing.isDisconnected && second.serverSide.isDisconnected })
        #expect(refusing.lastError?.reason == .tls(.refused) && refusing.lastError?.code == -9825)
        #expect(!refusing.calls.contains(.secured))
        #expect(second.serverSide.lastError?.reason == .tls(.alert(42, name: "bad_certificate")))
    }

    @Test func statement094_judgingNeedsAJudgeAndServersMayJudgeToo() throws {
        let pair = try TLSPair(clientSide: Recorder(trust: { _ in .unhandled }))
        try pair.startTLS(client: .testClient().with { $0.trustEvaluator = .delegate })
        #expect(eventually { pair.clientSide.isDisconnected })
        #expect(pair.clientSide.lastError?.reason == .other && pair.clientSide.lastError?.code == 8)
        #expect(pair.clientSide.lastError?.detail.contains("didReceiveTrust") == true)

        for verdict in [TrustVerdict.accept, .refuse] {
            let judge = Recorder(trust: { _ in verdict })
            let second = try TLSPair(serverSide: judge)
            try second.startTLS(
                client: .testClient().with { $0.identity = Certificates.identity("foreign") },
                server: .testServer().with {
                    $0.trust = .file(Certificates.path("ca.crt"))
                    $0.clientCertificate = .required
                    $0.trustEvaluator = .delegateIfRefused
                })
            second.server.write([1], tag: 1)
            #expect(eventually { judge.calls.contains(.secured) || judge.isDisconnected })
            #expect(judge.questions.first?.chain.first?.subject == "CN=foreign")
            #expect(judge.questions.first?.problem?.contains("local issuer") == true)
            if verdict == .accept {
                #expect(judge.calls.contains(.secured))
            } else {
                #expect(judge.lastError?.reason == .tls(.refused))
                #expect(!judge.calls.contains(.secured))
            }
        }
    }

    /// What is wrong with settings, and what the sentence must name.
    static let wrongSettings: [(TLSSettings, String)] = [
        (.testClient().with { $0.trust = .file("/nonexistent.pem") }, "trust file /nonexistent.pem: No such file"),
        (.testClient().with { $0.trust = .file(Certificates.path("server.key")) }, "trust file"),
        (.testClient().with { $0.trust = .folder("/nonexistent") }, "trust folder /nonexistent: no such folder"),
        (.testClient().with { $0.trust = .pinned([.certificate(sha256: [1, 2])]) }, "32 bytes"),
        (.testClient("").with { _ in }, "serverName"),
        (.testClient("a b").with { _ in }, "serverName a b"),
        (.testClient(".").with { _ in }, "serverName ."),
        (
            .testClient().with {
                $0.minimumVersion = .tls13; $0.maximumVersion = .tls12
            }, "minimumVersion 1.3"
        ),
        (.testClient().with { $0.handshakeTimeout = .zero }, "handshakeTimeout"),
        (.testClient().with { $0.applicationProtocols = [""] }, "applicationProtocols"),
        (.testClient().with { $0.cipherList = "NOSUCH" }, "cipherList NOSUCH"),
        (.testClient().with { $0.cipherSuites = "NOSUCH" }, "cipherSuites NOSUCH"),
        (.testClient().with { $0.keyLogFile = "/nonexistent/keys" }, "key log /nonexistent/keys"),
        (.testClient().with { $0.keyLogFile = "/dev/null" }, "key log /dev/null"),
        (.testClient().with { $0.clientCertificate = .required }, "clientCertificate"),
        (.testServer().with { $0.identity = nil }, "identity"),
        (.testServer().with { $0.serverName = "x" }, "serverName"),
        (.testServer().with { $0.identity?.certificateFile = "/none.pem" }, "certificate /none.pem: No such file"),
        (.testServer().with { $0.identity?.certificateFile = Certificates.path("ca.key") }, "holds no certificate"),
        (.testServer().with { $0.identity?.keyFile = Certificates.path("client.key") }, "is not the key of"),
        (.testServer().with { $0.identity?.keyFile = Certificates.path("encrypted.key") }, "is encrypted"),
    ]

    @Test(arguments: wrongSettings.indices)
    func statement095_aWrongSettingIsRefusedAtTheCallByASentenceThatNamesIt(_ index: Int) throws {
        let (settings, words) = Self.wrongSettings[index]
        let pair = try ConnectedPair()
        let error = #expect(throws: SocketError.self) { try pair.socket.startTLS(settings) }
        #expect(error?.reason == .badParameter && error?.detail.contains(words) == true, "\(String(describing: error))")
        // Nothing was begun.
        #expect(pair.socket.tls == nil && pair.socket.isConnected)
        let nameless = #expect(throws: SocketError.self) { try pair.socket.startTLS(.client()) }
        #expect(nameless?.detail.contains("checksName") == true)
    }

    @Test func statement096_thePeersNameIsCheckedUnlessThatIsSwitchedOff() throws {
        func end(_ settings: TLSSettings, server: String = "server") throws -> SocketError.Reason? {
            let pair = try TLSPair()
            try pair.startTLS(client: settings, server: .testServer(server))
            #expect(eventually { pair.clientSide.calls.contains(.secured) || pair.clientSide.isDisconnected })
            return pair.clientSide.lastError?.reason
        }
        for name in ["localhost", "127.0.0.1", "::1", "a.wild.example"] { #expect(try end(.testClient(name)) == nil) }
        for name in ["elsewhere.example", "a.b.wild.example", "wild.example"] {
            guard case .tls(.untrusted(let code, _)) = try end(.testClient(name)) else {
                Issue.record("\(name) passed")
                continue
            }
            #expect(code == 62)
        }
        guard case .tls(.untrusted(code: 64, _)) = try end(.testClient("127.0.0.2")) else {
            Issue.record("127.0.0.2 passed")
            return
        }
        #expect(try end(.testClient(nil).with { $0.checksName = false }, server: "elsewhere") == nil)
        guard case .tls(.untrusted) = try end(.testClient(nil).with { $0.checksName = false }, server: "foreign") else {
            Issue.record("a foreign authority passed")
            return
        }
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func theHostThatWasConnectedToIsChecked(_ host: String) throws {
        for (name, passes) in [("server", true), ("elsewhere", false)] {
            let reception = try TLSReception(.testServer(name))
            let recorder = Recorder()
            let client = AsyncSocket(engine: reception.engine, delegate: recorder)
            try client.connect(to: .tcp(host: host, port: reception.port), tls: .testClient(nil))
            #expect(eventually { recorder.calls.contains(.secured) || recorder.isDisconnected })
            #expect(recorder.calls.contains(.secured) == passes)
            #expect(client.tls == nil || client.tls?.expectedName == host)
        }
        // Unchecked, the name is still asked for, unless it is an address.
        let reception = try TLSReception(.testServer("elsewhere"))
        let client = AsyncSocket(engine: reception.engine)
        let settings = TLSSettings.testClient(nil).with { $0.checksName = false }
        try client.connect(to: .tcp(host: host, port: reception.port), tls: settings)
        #expect(eventually { reception.serverSide.calls.contains(.secured) })
        #expect(reception.sockets.first?.tls?.serverName == (host == "localhost" ? host : nil))
    }

    @Test func statement103_theProtocolAgreedOnIsVisibleAndNoneInCommonFails() throws {
        let pair = try TLSPair()
        try pair.startTLS(
            client: .testClient().with { $0.applicationProtocols = ["h2", "http/1.1"] },
            server: .testServer().with { $0.applicationProtocols = ["imap", "http/1.1"] })
        #expect(pair.isSecured)
        for socket in [pair.client, pair.server] {
            let tls = try #require(socket.tls)
            #expect(tls.applicationProtocol == "http/1.1" && tls.serverName == "localhost")
            #expect(tls.version == "TLSv1.3" && tls.cipher?.hasPrefix("TLS_") == true && tls.group != nil)
        }
        let second = try TLSPair()
        try second.startTLS(
            client: .testClient().with { $0.applicationProtocols = ["h2"] },
            server: .testServer().with { $0.applicationProtocols = ["imap"] })
        #expect(eventually { second.clientSide.isDisconnected })
        #expect(second.clientSide.lastError?.reason == .tls(.alert(120, name: "no_application_protocol")))
    }
}
