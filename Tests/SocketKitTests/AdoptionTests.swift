import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Sockets that somebody else opened, as systemd does.
@Suite("Adopted sockets", .timeLimit(.minutes(10))) struct AdoptionTests {
    private static func bound(_ type: __socket_type, listens: Bool) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let isBound = LinuxKernel().bind(descriptor, to: .v4(host: "127.0.0.1", port: 0)) == 0
        guard isBound, !listens || listen(descriptor, 16) == 0 else { throw PeerFailure(errno: errno) }
        return descriptor
    }

    @Test("a listener takes over a socket that listens, with what waits there")
    func listener() async throws {
        let descriptor = try Self.bound(SOCK_STREAM, listens: true)
        let port = try #require(LinuxKernel().localAddress(descriptor)?.port)
        let early = try RawPeer(port: port)
        try early.send([1, 2])
        let listener = SocketListener(engine: SocketEngine())
        let connections = listener.connections
        try listener.adopt(descriptors: [descriptor])
        #expect(listener.localAddress?.port == port)
        var iterator = connections.makeAsyncIterator()
        let socket = try #require(try await iterator.next())
        #expect(try await socket.read(ReadRequest(.length(2))) == [1, 2])
        listener.stop()
        #expect(await eventually { fcntl(descriptor, F_GETFD) == -1 })
    }

    @Test("a renewed certificate is shown to who connects from then on", .enabled(if: Certificates.problem == nil))
    func renewal() async throws {
        let listener = SocketListener(engine: SocketEngine())
        let refused = #expect(throws: SocketError.self) { try listener.renewTLS(.testClient()) }
        #expect(refused?.reason == .badParameter)
        let early = #expect(throws: SocketError.self) {
            try listener.renewTLS(.server(Certificates.identity("server")))
        }
        #expect(early?.reason == .notConnected)
        // Retains what comes in.
        let connections = listener.connections
        defer { withExtendedLifetime(connections) {} }
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: .server(Certificates.identity("expired")))
        let endpoint = Endpoint.tcp(host: "127.0.0.1", port: listener.localAddress?.port ?? 0)
        var settings = TLSSettings.client(serverName: "localhost")
        settings.trust = .file(Certificates.path("ca.crt"))
        let engine = SocketEngine()
        let expired = await #expect(throws: SocketError.self) {
            try await AsyncSocket.connect(to: endpoint, on: engine, tls: settings)
        }
        #expect(expired?.detail.contains("expired") == true, "\(String(describing: expired))")
        try listener.renewTLS(.server(Certificates.identity("server")))
        let socket = try await AsyncSocket.connect(to: endpoint, on: engine, tls: settings)
        #expect(socket.tls != nil)
        socket.disconnect()
    }

    @Test("what does not listen is refused with its number, and stays the caller's")
    func refusals() throws {
        let engine = SocketEngine()
        let datagram = try Self.bound(SOCK_DGRAM, listens: false)
        let stream = try Self.bound(SOCK_STREAM, listens: false)
        for descriptor in [datagram, stream, 1_000_000] {
            let error = #expect(throws: SocketError.self) {
                try SocketListener(engine: engine).adopt(descriptors: [descriptor])
            }
            #expect(error?.reason == .badParameter && error?.detail.contains("\(descriptor)") == true)
        }
        let none = #expect(throws: SocketError.self) { try SocketListener(engine: engine).adopt(descriptors: []) }
        #expect(none?.reason == .badParameter)
        let wrong = #expect(throws: SocketError.self) { try DatagramSocket(engine: engine).adopt(descriptor: stream) }
        #expect(wrong?.reason == .badParameter)
        #expect(fcntl(datagram, F_GETFD) >= 0 && fcntl(stream, F_GETFD) >= 0)
        close(datagram)
        close(stream)
    }

    @Test("a datagram socket takes over a bound one")
    func datagrams() async throws {
        let descriptor = try Self.bound(SOCK_DGRAM, listens: false)
        let engine = SocketEngine()
        let socket = DatagramSocket(engine: engine)
        try socket.adopt(descriptor: descriptor)
        let address = try #require(LinuxKernel().localAddress(descriptor))
        #expect(socket.localAddress == address)
        var iterator = try socket.datagrams().makeAsyncIterator()
        let sender = DatagramSocket(engine: engine)
        try await sender.send([9], to: Endpoint(address))
        let datagram = try #require(try await iterator.next())
        #expect(datagram.bytes == [9] && datagram.destination?.port == address.port)
        let again = #expect(throws: SocketError.self) { try socket.adopt(descriptor: descriptor) }
        #expect(again?.reason == .badConfiguration)
        socket.close()
        #expect(await eventually { fcntl(descriptor, F_GETFD) == -1 })
    }

    @Test("systemd's variables count for the process that they name, and only there")
    func variables() throws {
        func passed(_ process: String?, _ count: String?, _ names: String?) -> [InheritedSocket] {
            InheritedSocket.passed(process: process, count: count, names: names, own: 42)
        }
        #expect(passed(nil, "1", nil).isEmpty && passed("41", "1", nil).isEmpty && passed("42", nil, nil).isEmpty)
        #expect(passed("42", "0", nil).isEmpty && passed("42", "-3", nil).isEmpty && passed("42", "x", nil).isEmpty)
        #expect(InheritedSocket.fromSystemd().isEmpty)
    }
}
