import SocketKit
import SocketTestSupport
import Testing

/// How socat and the engine reach each other.
enum Transport: String, CaseIterable {
    case tcp4, tcp6, unix
}

@Suite(.enabled(if: Peer.isUsable("socat"), "socat is missing"), .timeLimit(.minutes(10)))
struct SocatTests {
    /// socat listens and we connect.
    private func weConnect(_ transport: Transport, halfOpen: Bool = false) throws -> (OurEnd, Peer) {
        func socat(_ address: String) -> [String] { ["socat", "-d", "-d", "-t", "30", "-", address] }
        switch transport {
        case .tcp4:
            let (peer, port) = try Peer.server { socat("TCP4-LISTEN:\($0),bind=127.0.0.1,reuseaddr") }
            return (try OurEnd.connected(to: .tcp(host: "127.0.0.1", port: port), halfOpen: halfOpen), peer)
        case .tcp6:
            let (peer, port) = try Peer.server { socat("TCP6-LISTEN:\($0),bind=[::1],reuseaddr") }
            return (try OurEnd.connected(to: .tcp(host: "::1", port: port), halfOpen: halfOpen), peer)
        case .unix:
            let folder = try TemporaryFolder()
            let peer = try Peer(socat("UNIX-LISTEN:\(folder.path)/s"), keeping: folder)
            try #require(eventually { peer.complaints.contains("listening on") })
            return (try OurEnd.connected(to: .unix(path: folder.path + "/s"), halfOpen: halfOpen), peer)
        }
    }

    /// We listen and socat connects. The listener is held beside its connection.
    private func weListen(_ transport: Transport) throws -> (OurEnd, Peer, OurEnd.Listener) {
        func socat(_ address: String) throws -> Peer { try Peer(["socat", "-d", "-d", "-t", "30", "-", address]) }
        let folder = try TemporaryFolder()
        let (listener, peer): (OurEnd.Listener, Peer)
        switch transport {
        case .tcp4:
            listener = try OurEnd.Listener(on: .tcp(host: "127.0.0.1", port: 0))
            peer = try socat("TCP4:127.0.0.1:\(listener.port)")
        case .tcp6:
            listener = try OurEnd.Listener(on: .tcp(host: "::1", port: 0))
            peer = try socat("TCP6:[::1]:\(listener.port)")
        case .unix:
            listener = try OurEnd.Listener(on: .unix(path: folder.path + "/s"))
            peer = try socat("UNIX-CONNECT:\(folder.path)/s")
        }
        return (try listener.accepted(), peer, listener)
    }

    @Test(arguments: Transport.allCases)
    func everyByteValueComesUnalteredWhereWeConnect(_ transport: Transport) throws {
        let (end, peer) = try weConnect(transport)
        try end.exchangesEveryByteValue(with: peer)
    }

    @Test(arguments: Transport.allCases)
    func everyByteValueComesUnalteredWhereWeListen(_ transport: Transport) throws {
        let (end, peer, listener) = try weListen(transport)
        try end.exchangesEveryByteValue(with: peer)
        withExtendedLifetime(listener) {}
    }

    @Test(arguments: Transport.allCases)
    func aPeerThatHasSaidAllStillHearsUs(_ transport: Transport) throws {
        let (end, peer) = try weConnect(transport, halfOpen: true)
        end.socket.read(ReadRequest(.length(4), tag: 1))
        end.socket.read(ReadRequest(.length(1), tag: 2))
        try peer.write("last")
        peer.endInput()
        #expect(eventually { end.recorder.calls.contains(.closedReadStream) })
        #expect(end.recorder.received == Array("last".utf8))
        // The second read goes on waiting, as it would for a timeout: it ends with the session.
        #expect(end.recorder.failures.isEmpty && !end.recorder.isDisconnected)
        end.socket.write(Array("we go on".utf8), tag: 3)
        #expect(eventually { peer.output == Array("we go on".utf8) })
        end.socket.disconnect(.afterWriting)
        #expect(eventually { end.recorder.isDisconnected && peer.hasEnded })
        #expect(end.recorder.calls.suffix(2) == [.failed(tag: 2, .disconnected, done: 0), .disconnected(nil)])
    }

    @Test(arguments: Transport.allCases)
    func afterOurFINThePeerMaySpeakOn(_ transport: Transport) throws {
        let (end, peer) = try weConnect(transport)
        end.socket.read(ReadRequest(.length(5), tag: 1))
        end.socket.write(Array("that is all".utf8), tag: 2)
        end.socket.halfClose()
        #expect(eventually { peer.complaints.contains("is at EOF") })
        #expect(peer.output == Array("that is all".utf8))
        try peer.write("reply")
        #expect(eventually { end.recorder.received == Array("reply".utf8) })
        end.socket.write([1], tag: 3)
        #expect(eventually { end.recorder.failures.map(\.tag) == [3] })
        peer.endInput()
        #expect(eventually { end.recorder.calls.last == .disconnected(.closedByPeer) && peer.hasEnded })
    }
}
