import Foundation
import SocketKit
import SocketKitFoundation
import SocketTestSupport
import Testing

@Suite("SocketKit with Foundation's types", .timeLimit(.minutes(10)))
struct FoundationTests {
    @Test("Data and String are written, sent and read")
    func stream() async throws {
        let engine = SocketEngine()
        let descriptors = try ConnectedPair.tcpPair()
        let (one, other) = (AsyncSocket(engine: engine), AsyncSocket(engine: engine))
        try one.adopt(descriptor: descriptors.0)
        try other.adopt(descriptor: descriptors.1)
        one.write(Data([1, 2]))
        one.write("ab")
        try await one.send(Data([3]))
        try await one.send("c\r\n")
        let data = try await other.data(.until("\r\n", limit: 100, tag: 7))
        #expect(data == Data([1, 2]) + Data("ab".utf8) + Data([3]) + Data("c\r\n".utf8))
    }

    @Test("an error has a localized description, a domain and a code")
    func errors() throws {
        let error = SocketError(.readTimeout, operation: "read", detail: "nothing came within 2 s")
        #expect(error.localizedDescription == "nothing came within 2 s")
        let bridged = error as NSError
        #expect(bridged.domain == "GCDAsyncSocketErrorDomain" && bridged.code == 4)
        #expect(error.nsError.localizedDescription == "nothing came within 2 s" && error.nsError.code == 4)
    }

    @Test("messages of a WebSocket are Data")
    func messages() async throws {
        let pair = try WebSocketPair(serverSide: .echo())
        pair.client.write(Data([1]))
        try await pair.client.send(Data([2]))
        #expect(await eventually { pair.clientSide.messages == [.binary(Data([1])), .binary([2])] })
        #expect(pair.clientSide.messages.map(\.data) == [Data([1]), Data([2])])
        let other = WebSocket(engine: pair.engine)
        let port = pair.listener.localAddress?.port ?? 0
        try other.connect(to: try #require(URL(string: "ws://127.0.0.1:\(port)/")))
        #expect(await eventually { other.readyState == .open })
        let wrong = try #require(throws: SocketError.self) {
            try WebSocket(engine: pair.engine).connect(to: URL(fileURLWithPath: "/a"))
        }
        #expect(wrong.reason == .badParameter && wrong.detail.contains("file:///a"))
    }

    @Test("datagrams are Data")
    func datagrams() async throws {
        let engine = SocketEngine()
        let (receiver, sender) = (DatagramSocket(engine: engine), DatagramSocket(engine: engine))
        try receiver.bind(to: .udp(host: "127.0.0.1", port: 0))
        let address = try #require(receiver.localAddress)
        let destination = try #require(Endpoint(address))
        var iterator = try receiver.datagrams().makeAsyncIterator()
        try await sender.send(Data([1]), to: destination)
        let queue = { sender.send(Data([2]), to: destination, tag: 2) }
        _ = queue()
        #expect(try await iterator.next()?.data == Data([1]))
        #expect(try await iterator.next()?.data == Data([2]))
    }

    @Test("URLs name endpoints")
    func endpoints() throws {
        func endpoint(_ text: String) throws -> Endpoint? { Endpoint(try #require(URL(string: text))) }
        #expect(try endpoint("tcp://example.org:80") == .host("example.org", port: 80))
        #expect(try endpoint("redis://[::1]:6379/0") == .host("::1", port: 6379))
        #expect(try endpoint("unix:/run/a.sock") == .unix(path: "/run/a.sock"))
        #expect(try endpoint("file:///run/a.sock") == .unix(path: "/run/a.sock"))
        #expect(try endpoint("http://example.org") == nil)
        #expect(try endpoint("mailto:a@example.org") == nil)
    }
}
