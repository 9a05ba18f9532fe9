import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Statements 85 to 88: sockets of the Unix domain.
@Suite(.timeLimit(.minutes(10))) struct UnixDomainStatements {
    @Test(arguments: [Endpoint.unix(path: ""), .abstract(name: "socktui-statement-\(getpid())")])
    func statement085_bothEndsMeetByTheirNameAndTalkBothWays(_ template: Endpoint) throws {
        let folder = try TemporaryFolder()
        let endpoint = if case .unix = template { Endpoint.unix(path: folder.path + "/s") } else { template }
        let reception = try Reception(endpoint)
        let (client, child) = (Recorder(), Recorder())
        let socket = AsyncSocket(engine: reception.engine, delegate: client)
        try socket.connect(to: endpoint)
        socket.write(Array("up".utf8), tag: 1)
        socket.read(ReadRequest(.length(4), tag: 2))
        #expect(eventually { reception.accepting.calls == [.accepted] })
        let accepted = try #require(reception.accepting.sockets.first)
        accepted.delegate = child
        accepted.read(ReadRequest(.length(2), tag: 3))
        #expect(eventually { child.calls == [.text("up", tag: 3)] })
        accepted.write(Array("down".utf8), tag: 4)
        #expect(eventually { client.calls == [.connected, .wrote(tag: 1), .text("down", tag: 2)] })
        #expect(socket.peerAddress == reception.address && reception.address.host == nil)
        #expect(socket.peerAddress?.description == endpoint.description)
        #expect(accepted.peerAddress == .unnamed)
    }

    @Test func statement086_aStaleSocketFileIsReplacedAndAnythingElseIsLeftAlone() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/s"
        let stale = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #expect(LinuxKernel().bind(stale, to: .unix(path: path)) == 0)
        close(stale)
        #expect(folder.contains("s"))
        let reception = try Reception(.unix(path: path))
        let second = SocketListener(engine: reception.engine)
        let taken = try #require(throws: SocketError.self) { try second.listen(on: .unix(path: path)) }
        #expect(taken.reason == .system(errno: EADDRINUSE))
        reception.listener.stop()
        folder.write("important", to: "s")
        #expect(throws: SocketError.self) { try second.listen(on: .unix(path: path)) }
        #expect(ProcessFacts.text(path) == "important")
        #expect(mkdir(path + ".folder", 0o700) == 0)
        #expect(throws: SocketError.self) { try second.listen(on: .unix(path: path + ".folder")) }
        #expect(folder.contains("s.folder"))
        #expect(second.session == nil)
    }

    @Test func statement087_aPathThatIsTooLongIsRefusedAndTheSocketFileGoesWithItsListener() throws {
        let folder = try TemporaryFolder()
        let engine = SocketEngine()
        let longest = folder.path + "/" + String(repeating: "p", count: 106 - folder.path.utf8.count)
        let socket = AsyncSocket(engine: engine)
        let listener = SocketListener(engine: engine)
        let errors = [
            try #require(throws: SocketError.self) { try socket.connect(to: .unix(path: longest + "p")) },
            try #require(throws: SocketError.self) { try listener.listen(on: .unix(path: longest + "p")) },
        ]
        #expect(errors.map(\.code) == [2, 2])
        #expect(errors.allSatisfy { $0.detail.contains("at most 107") })
        #expect(folder.names == [])
        try listener.listen(on: .unix(path: longest))
        #expect(listener.localAddress == .unix(path: longest))
        #expect(folder.names.count == 1)
        listener.stop()
        #expect(folder.names == [])
    }

    @Test func statement088_aMissingPathEndsTheConnectWithItsErrno() throws {
        let folder = try TemporaryFolder()
        let engine = SocketEngine()
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(to: .unix(path: folder.path + "/none"))
        #expect(eventually { recorder.isDisconnected })
        engine.fence()
        #expect(recorder.calls == [.disconnected(.system(errno: ENOENT))])
        #expect(recorder.lastError?.detail.contains("/none") == true)
    }
}
