import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Datagrams to and from programs of others, on loopback.
@Suite(.timeLimit(.minutes(10))) struct DatagramInteropTests {
    private static let group = "239.255.77.7"

    // MARK: netcat and socat

    @Test(.enabled(if: Peer.isUsable("nc"), "nc is missing"))
    func netcatSpeaksAndIsAnswered() throws {
        let end = try DatagramEnd.bound()
        let peer = try Peer(["nc", "-u", "127.0.0.1", "\(try port(of: end))"])
        try peer.write("one")
        #expect(eventually { end.payloads == [Array("one".utf8)] })
        let source = try #require(end.recorder.datagrams.first?.source)
        end.socket.send(Array("two".utf8), to: Endpoint(source), tag: 2)
        #expect(eventually { peer.output == Array("two".utf8) })
        #expect(end.picture?.datagrams?.peers.first?.address == source)
    }

    @Test(.enabled(if: Peer.isUsable("nc"), "nc is missing"))
    func netcatListensAndAnswers() throws {
        let (peer, port) = try Self.receiver { ["nc", "-u", "-l", "127.0.0.1", "\($0)"] }
        let end = DatagramEnd()
        try end.socket.connect(to: .udp(host: "127.0.0.1", port: port))
        try end.socket.beginReceiving()
        end.socket.send(Array("one".utf8), tag: 1)
        #expect(eventually { peer.output == Array("one".utf8) })
        try peer.write("two")
        #expect(eventually { end.payloads == [Array("two".utf8)] })
        #expect(end.recorder.calls == [.connected, .sent(tag: 1), .received(Array("two".utf8))])
    }

    /// Every length and byte value: nothing on the way may read a meaning into any of them.
    @Test(.enabled(if: Peer.isUsable("socat"), "socat is missing"), arguments: ["UDP4:127.0.0.1", "UDP6:[::1]"])
    func socatBringsBackWhatItGets(_ place: String) throws {
        let end = try DatagramEnd.bound(place.hasPrefix("UDP6") ? "::1" : "127.0.0.1")
        let echo = try Peer(["socat", "\(place):\(try port(of: end)),bind=:0", "SYSTEM:printf hi; cat"])
        #expect(eventually { !end.payloads.isEmpty })
        let source = try #require(end.recorder.datagrams.first?.source)
        for length in [1, 255, 1_400, 8_000] {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            end.socket.send(bytes, to: Endpoint(source))
            #expect(eventually { end.payloads.last == bytes }, "\(length) bytes")
        }
        withExtendedLifetime(echo) {}
    }

    @Test(.enabled(if: Peer.isUsable("socat"), "socat is missing"))
    func socatSpeaksOverUnixDomainSockets() throws {
        let folder = try TemporaryFolder()
        let end = DatagramEnd()
        try end.socket.bind(to: .unix(path: folder.path + "/ours"))
        try end.socket.beginReceiving()
        let peer = try Peer(["socat", "-", "UNIX-SENDTO:\(folder.path)/ours,bind=\(folder.path)/theirs"])
        try peer.write("one")
        #expect(eventually { end.payloads == [Array("one".utf8)] })
        #expect(end.recorder.datagrams.first?.source == .unix(path: folder.path + "/theirs"))
        end.socket.send(Array("two".utf8), to: .unix(path: folder.path + "/theirs"))
        #expect(eventually { peer.output == Array("two".utf8) })
    }

    // MARK: Groups

    @Test(.enabled(if: Peer.isUsable("socat"), "socat is missing"))
    func socatAndWeAreMembersOfOneGroup() throws {
        let (peer, port) = try Self.receiver(on: "0.0.0.0") {
            ["socat", "-u", "UDP4-RECV:\($0),reuseaddr,ip-add-membership=\(Self.group):lo", "-"]
        }
        let end = DatagramEnd()
        try end.socket.bind(to: .udp(host: Self.group, port: port))
        try end.socket.joinGroup(Self.group, interface: "lo")
        try end.socket.beginReceiving()
        try end.socket.sendMulticast(onInterface: "lo")
        end.socket.send(Array("from us".utf8), to: .udp(host: Self.group, port: port))
        #expect(eventually { peer.output == Array("from us".utf8) && end.payloads == [Array("from us".utf8)] })
        let sender = try Peer([
            "socat", "-u", "-", "UDP4-DATAGRAM:\(Self.group):\(port),ip-multicast-if=127.0.0.1",
        ])
        try sender.write("from them")
        #expect(eventually { end.payloads.last == Array("from them".utf8) })
        #expect(end.recorder.datagrams.last?.destination == .v4(host: Self.group, port: port))
    }

    @Test(.enabled(if: Self.routesIPv6Groups, "lo has no route for IPv6 multicast"))
    func aGroupOfIPv6Works() throws {
        let end = DatagramEnd()
        try end.socket.bind(to: .udp(host: "::", port: 0))
        try end.socket.joinGroup("ff12::77:7", interface: "lo")
        try end.socket.sendMulticast(onInterface: "lo")
        try end.socket.beginReceiving()
        end.socket.send([6], to: .udp(host: "ff12::77:7", port: try port(of: end)))
        #expect(eventually { end.payloads == [[6]] })
    }

    /// Whether the kernel lets a datagram to a group of IPv6 out on `lo`.
    private static var routesIPv6Groups: Bool {
        let end = DatagramEnd()
        guard (try? end.socket.bind(to: .udp(host: "::", port: 0))) != nil,
            (try? end.socket.sendMulticast(onInterface: "lo")) != nil
        else { return false }
        end.socket.send([1], to: .udp(host: "ff12::77:7", port: 9))
        return eventually { !end.recorder.calls.isEmpty } && end.recorder.failures.isEmpty
    }

    // MARK: DNS

    @Test(.enabled(if: Peer.isUsable("dig"), "dig is missing"))
    func digAsksUs() throws {
        let end = try DatagramEnd.bound(
            recorder: DatagramRecorder { socket, call in
                guard case .received(let query) = call, query.count > 12 else { return }
                // The question again, and one answer: a pointer to its name, type A, class IN, 60 s, four bytes.
                let question = Array(query[12...].prefix { $0 != 0 }) + [0, 0, 1, 0, 1]
                let answer: [UInt8] = [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]
                let reply = Array(query[..<2]) + [0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0] + question + answer
                socket.send(reply, to: Self.asker.withLock { $0 })
            })
        end.socket.receiveFilter = DatagramReceiveFilter { datagram in
            Self.asker.withLock { $0 = Endpoint(datagram.source) }
            return .pass(context: nil)
        }
        let dig = try Peer([
            "dig", "@127.0.0.1", "-p", "\(try port(of: end))", "+short", "+noedns", "+tries=1", "+time=10", "x.test",
            "A",
        ])
        #expect(eventually { dig.hasEnded })
        #expect(String(decoding: dig.output, as: UTF8.self) == "192.0.2.7\n")
    }

    private static let asker = Lock<Endpoint?>(nil)

    @Test(.enabled(if: Peer.isUsable("dnsmasq"), "dnsmasq is missing"))
    func weAskDnsmasq() throws {
        let (peer, port) = try Self.receiver {
            [
                "dnsmasq", "--no-daemon", "--port=\($0)", "--listen-address=127.0.0.1", "--bind-interfaces",
                "--no-resolv", "--no-hosts", "--conf-file=/dev/null", "--pid-file", "--user=root",
                "--address=/x.test/192.0.2.8",
            ]
        }
        let end = DatagramEnd()
        try end.socket.connect(to: .udp(host: "localhost", port: port))
        try end.socket.beginReceivingOnceConnected(end)
        let header: [UInt8] = [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        end.socket.send(header + [1] + Array("x".utf8) + [4] + Array("test".utf8) + [0, 0, 1, 0, 1])
        #expect(eventually { end.payloads.count == 1 })
        #expect(end.payloads.first?.prefix(2) == [0x12, 0x34] && end.payloads.first?.suffix(4) == [192, 0, 2, 8])
        withExtendedLifetime(peer) {}
    }

    // MARK: Helpers

    private func port(of end: DatagramEnd) throws -> UInt16 { try #require(end.socket.localAddress?.port) }

    /// Starts a program on a free UDP port and waits until it is bound there. A program that takes the TCP port of that
    /// number too may find it in use; then another one is tried.
    private static func receiver(
        on host: String = "127.0.0.1", _ words: (UInt16) -> [String]
    ) throws -> (Peer, UInt16) {
        let engine = SocketEngine()
        var complaints = ""
        for _ in 0..<20 {
            let probe = try DatagramEnd.bound(host, engine: engine, isReceiving: false)
            let port = try #require(probe.socket.localAddress?.port)
            probe.socket.close()
            let peer = try Peer(words(port))
            try #require(eventually { peer.hasEnded || ProcessFacts.isBound(port) })
            guard peer.hasEnded else { return (peer, port) }
            complaints = peer.complaints
        }
        throw Complaint(text: complaints)
    }

    private struct Complaint: Error { let text: String }
}

extension DatagramSocket {
    /// A name has to be resolved first.
    fileprivate func beginReceivingOnceConnected(_ end: DatagramEnd) throws {
        try #require(eventually { end.socket.isConnected })
        try beginReceiving()
    }
}
