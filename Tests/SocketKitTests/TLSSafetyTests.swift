import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Names of certificates, the file of secrets, and sessions that are resumed.
@Suite(.enabled(if: Certificates.problem == nil), .timeLimit(.minutes(10))) struct TLSSafetyTests {
    @Test func aCommonNameIsNoNameOfAServer() throws {
        let folder = try TemporaryFolder()
        let made = try ChildProcess.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "9", "-subj", "/CN=localhost", "-keyout", folder.path + "/key", "-out", folder.path + "/crt",
        ])
        #expect(made.status == 0)
        let identity = TLSSettings.Identity(certificateFile: folder.path + "/crt", keyFile: folder.path + "/key")
        let pair = try TLSPair()
        try pair.startTLS(
            client: .testClient("localhost", trust: .file(folder.path + "/crt")), server: .server(identity))
        #expect(eventually { pair.clientSide.isDisconnected })
        guard case .tls(.untrusted(_, let text))? = pair.clientSide.lastError?.reason else {
            Issue.record("\(String(describing: pair.clientSide.lastError))")
            return
        }
        #expect(text.lowercased().contains("hostname"))
    }

    /// A root dot is the resolver's: SNI and certificates have none (RFC 6066, 3).
    @Test(arguments: [nil, "localhost."]) func aNameIsAskedForAndCheckedWithoutItsRootDot(name: String?) throws {
        let reception = try TLSReception(.testServer())
        let clientSide = Recorder()
        let client = AsyncSocket(engine: SocketEngine(), delegate: clientSide)
        try client.connect(to: .tcp(host: "localhost.", port: reception.port), tls: .testClient(name))
        #expect(eventually { clientSide.calls.contains(.secured) || clientSide.isDisconnected })
        #expect(clientSide.lastError == nil && client.tls?.expectedName == "localhost")
        #expect(eventually { reception.sockets.last?.tls?.serverName == "localhost" })
    }

    @Test(arguments: [TLSSettings.testClient(), .testServer()])
    func aPeerThatSpeaksSomethingElseIsQuoted(settings: TLSSettings) throws {
        let pair = try ConnectedPair()
        try pair.socket.startTLS(settings)
        try pair.peerSends(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.lastError?.code == -9800)
        #expect(
            pair.recorder.lastError?.detail.hasSuffix(
                "the peer does not speak TLS: it sent \"HTTP/1.1 400 Bad Request\"") == true)
    }

    @Test func theFileOfSecretsIsThisUsersOwnAndNoLink() throws {
        let folder = try TemporaryFolder()
        let (own, link, second) = (folder.path + "/own", folder.path + "/link", folder.path + "/second")
        func problem(_ path: String) -> String? {
            let pair = try? ConnectedPair()
            do throws(SocketError) {
                try pair?.socket.startTLS(.testClient().with { $0.keyLogFile = path })
                return nil
            } catch { return error.detail }
        }
        #expect(problem(own) == nil)
        #expect(symlink(own, link) == 0)
        #expect(problem(link)?.contains("symbolic link") == true)
        #expect(Glibc.link(own, second) == 0)
        #expect(problem(second)?.contains("regular file that you own") == true)
        let foreign = folder.path + "/foreign"
        #expect(close(creat(foreign, 0o666)) == 0)
        if chown(foreign, 65_534, 65_534) == 0 {
            #expect(problem(foreign)?.contains("regular file that you own") == true)
            var status = stat()
            #expect(stat(foreign, &status) == 0 && status.st_mode & 0o777 != 0o600, "it was left as it was")
        }
    }

    @Test func aNewFileOfSecretsIsPrivateAndAnExistingOneKeepsItsMode() throws {
        let folder = try TemporaryFolder()
        let (new, old) = (folder.path + "/new", folder.path + "/old")
        folder.write("kept\n", to: "old")
        #expect(chmod(old, 0o644) == 0)
        for (path, mode) in [(new, mode_t(0o600)), (old, 0o644)] {
            let pair = try ConnectedPair()
            try pair.socket.startTLS(.testClient().with { $0.keyLogFile = path })
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == mode, "\(path)")
        }
    }

    @Test(arguments: [TLSSettings.Version.tls12, .tls13])
    func everyLaterConnectionResumesAndTheServerStillKnowsTheName(version: TLSSettings.Version) throws {
        let only = { (settings: inout TLSSettings) in
            (settings.minimumVersion, settings.maximumVersion) = (version, version)
        }
        let reception = try TLSReception(.testServer().with(only))
        let endpoint = Endpoint.tcp(host: "localhost", port: reception.port)
        for round in 0..<4 {
            let clientSide = Recorder()
            let client = AsyncSocket(engine: SocketEngine(), delegate: clientSide)
            try client.connect(to: endpoint, tls: .testClient().with(only))
            #expect(eventually { clientSide.calls.contains(.secured) && reception.sockets.count == round + 1 })
            let server = try #require(reception.sockets.last)
            // What the server sends brings a client of TLS 1.3 its tickets.
            #expect(eventually { server.isSecure })
            server.write([1])
            client.read(ReadRequest(.length(1)))
            #expect(eventually { clientSide.received == [1] })
            #expect(client.tls?.isResumed == (round > 0), "round \(round)")
            #expect(server.tls?.isResumed == (round > 0) && server.tls?.serverName == "localhost", "round \(round)")
            client.disconnect()
        }
    }
}
