import SocketKit
import SocketTestSupport
import Testing

@Suite(
    .enabled(if: Peer.isUsable("openssl") && Certificates.problem == nil, "openssl is missing"),
    .timeLimit(.minutes(10)))
struct OpenSSLTests {
    /// `openssl s_server`, which sends each line back reversed.
    private func server(_ name: String = "server", _ more: [String] = []) throws -> (peer: Peer, port: UInt16) {
        try Peer.server { port in
            [
                "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert", Certificates.path(name + ".crt"),
                "-key", Certificates.path(name + ".key"), "-rev", "-naccept", "9",
            ] + more
        }
    }

    private func client(_ port: UInt16, _ more: [String] = []) throws -> Peer {
        try Peer(
            [
                "openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", Certificates.path("ca.crt"),
                "-servername", "localhost", "-verify_return_error",
            ] + more)
    }

    @Test(arguments: [TLSSettings.Version.tls12, .tls13])
    func aServerAnswersAndBothAgreeOnVersionAndProtocol(_ version: TLSSettings.Version) throws {
        let openssl = try server("server", ["-alpn", "http/1.1,h2"])
        let settings = TLSSettings.testClient().with { settings in
            settings.applicationProtocols = ["h2"]
            settings.maximumVersion = version
        }
        let end = try TLSEnd.connected(to: openssl.port, settings)
        let tls = try #require(end.socket.tls)
        #expect(tls.version == "TLSv\(version.rawValue)" && tls.applicationProtocol == "h2" && !tls.isResumed)
        #expect(tls.verification == .passed && tls.chain.map(\.subject) == ["CN=server"])
        end.socket.write(Array("desserts\n".utf8), tag: 1)
        #expect(try end.line() == "stressed\n")
        // The next connection to the same place resumes the session.
        end.socket.disconnect()
        let second = try TLSEnd.connected(to: openssl.port, settings)
        #expect(second.socket.tls?.isResumed == true && second.socket.tls?.verification == .passed)
        second.socket.write(Array("live\n".utf8), tag: 1)
        #expect(try second.line() == "evil\n")
        second.socket.disconnect()
        let fresh = try TLSEnd.connected(to: openssl.port, settings.with { $0.resumesSessions = false })
        #expect(fresh.socket.tls?.isResumed == false)
    }

    @Test func aServerThatRequiresACertificateTakesOurs() throws {
        let openssl = try server(
            "server", ["-Verify", "1", "-CAfile", Certificates.path("ca.crt"), "-verify_return_error"])
        let end = try TLSEnd.connected(
            to: openssl.port, .testClient().with { $0.identity = Certificates.identity("client") })
        end.socket.write(Array("stop\n".utf8), tag: 1)
        #expect(try end.line() == "pots\n")
        end.socket.disconnect()
        let bare = try TLSEnd.connected(to: openssl.port)
        // In TLS 1.3 the refusal comes behind the handshake.
        #expect(eventually { bare.recorder.isDisconnected })
        #expect(bare.recorder.lastError?.reason == .tls(.alert(116, name: "certificate_required")))
        #expect(bare.recorder.lastError?.detail.contains("certificate_required") == true)
    }

    @Test(arguments: [TLSSettings.Version.tls12, .tls13])
    func aClientTalksWithOurListener(_ version: TLSSettings.Version) throws {
        let listener = try TLSEnd.Listener(
            .testServer().with { settings in
                settings.applicationProtocols = ["imap", "h2"]
                settings.maximumVersion = version
                settings.trust = .file(Certificates.path("ca.crt"))
                settings.clientCertificate = .required
            })
        let identity = ["-cert", Certificates.path("client.crt"), "-key", Certificates.path("client.key")]
        let openssl = try client(listener.port, ["-alpn", "h2", "-quiet"] + identity)
        let end = try listener.accepted()
        let tls = try #require(end.socket.tls)
        #expect(tls.version == "TLSv\(version.rawValue)" && tls.applicationProtocol == "h2")
        #expect(tls.serverName == "localhost" && tls.chain.first?.subject == "CN=client")
        #expect(tls.verification == .passed)
        try openssl.write("hello\n")
        #expect(try end.line() == "hello\n")
        end.socket.write(Array("welcome\n".utf8), tag: 2)
        #expect(eventually { String(decoding: openssl.output, as: UTF8.self).contains("welcome\n") })
    }

    @Test func aClientWithoutItsCertificateIsToldSo() throws {
        let listener = try TLSEnd.Listener(
            .testServer().with { settings in
                settings.trust = .file(Certificates.path("ca.crt"))
                settings.clientCertificate = .required
            })
        let openssl = try client(listener.port, ["-quiet"])
        let end = try listener.accepted()
        #expect(end.recorder.lastError?.detail.contains("peer did not return a certificate") == true)
        #expect(!end.recorder.calls.contains(.secured))
        #expect(eventually { openssl.hasEnded })
    }

    @Test func renegotiationIsRefused() throws {
        let listener = try TLSEnd.Listener(.testServer().with { $0.maximumVersion = .tls12 })
        let openssl = try client(listener.port)
        let end = try listener.accepted()
        try openssl.write("R\n")
        #expect(
            eventually {
                end.engine.snapshot(SnapshotRequest(eventsFrom: 0)).events.contains {
                    $0.kind == .alertSent && $0.first == 100
                }
            })
        #expect(eventually { openssl.hasEnded })
    }

    /// What is wrong, the server's certificate and options, the client's settings, and what the error says.
    static var failures: [(name: String, server: String, options: [String], client: TLSSettings, words: String)] {
        [
            ("wrong host", "elsewhere", [], .testClient(), "hostname mismatch"),
            ("expired", "expired", [], .testClient(), "certificate has expired"),
            ("self-signed", "self", [], .testClient(), "self-signed certificate"),
            ("unknown authority", "foreign", [], .testClient(), "unable to get local issuer certificate"),
            (
                "wrong key", "server", [],
                .testClient(trust: .pinned([.publicKey(sha256: [UInt8](repeating: 1, count: 32))])),
                "not the pinned certificate"
            ),
            (
                "no common version", "server", ["-tls1_2"], .testClient().with { $0.minimumVersion = .tls13 },
                "protocol_version (70)"
            ),
            (
                "no common cipher", "server", ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384"],
                .testClient().with { settings in
                    settings.maximumVersion = .tls12
                    settings.cipherList = "ECDHE-ECDSA-AES128-GCM-SHA256"
                }, "handshake_failure (40)"
            ),
        ]
    }

    @Test(arguments: failures.indices) func eachFailureHasItsOwnClearError(_ index: Int) throws {
        let failure = Self.failures[index]
        let openssl = try server(failure.server, failure.options)
        let end = try TLSEnd.connected(to: openssl.port, failure.client)
        #expect(!end.recorder.calls.contains(.secured))
        let error = try #require(end.recorder.lastError)
        #expect(error.detail.contains(failure.words), "\(failure.name): \(error)")
        guard case .tls = error.reason else {
            Issue.record("\(failure.name): \(error.reason)")
            return
        }
    }

    @Test func pinnedCertificatesAndKeysAreTaken() throws {
        let openssl = try server("self")
        let first = try TLSEnd.connected(to: openssl.port, .testClient(trust: .anything))
        let shown = try #require(first.socket.tls?.chain.first)
        guard case .notRequired(code: 18, _)? = first.socket.tls?.verification else {
            Issue.record("\(String(describing: first.socket.tls?.verification))")
            return
        }
        first.socket.disconnect()
        for pin in [TLSPin.certificate(sha256: shown.fingerprint), .publicKey(sha256: shown.publicKeyDigest)] {
            let end = try TLSEnd.connected(to: openssl.port, .testClient(nil, trust: .pinned([pin])))
            #expect(end.socket.tls?.verification == .pinned)
            end.socket.disconnect()
        }
    }
}
