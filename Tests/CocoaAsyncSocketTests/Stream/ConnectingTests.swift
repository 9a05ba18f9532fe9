import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport
import Testing

@Suite("Accepting with GCDAsyncSocket", .timeLimit(.minutes(10))) struct AcceptingTests {
    private let queue = DispatchQueue.named("delegates")
    private let log = StreamLog()

    private func socket() -> GCDAsyncSocket { GCDAsyncSocket(delegate: log, delegateQueue: queue) }

    @Test("acceptOnPort:error:") func onPort() throws {
        let listener = socket()
        try listener.accept(onPort: 0)
        #expect(listener.localPort != 0 && listener.isIPv4 && listener.isIPv6)
        for host in ["127.0.0.1", "::1"] {
            let client = socket()
            try client.connect(toHost: host, onPort: listener.localPort)
            #expect(eventually { log.has("connected \(host)") })
        }
        #expect(eventually { log.accepted.count == 2 })
        let other = socket()
        let error = #expect(throws: NSError.self) { try other.accept(onPort: listener.localPort) }
        #expect(error?.domain == NSPOSIXErrorDomain && error?.code == Int(EADDRINUSE))
        #expect(other.isDisconnected)
    }

    @Test("acceptOnInterface:port:error:") func onInterface() throws {
        let listener = socket()
        try listener.accept(onInterface: "lo", port: 0)
        #expect(listener.localHost == "127.0.0.1")
        listener.disconnect()
        try listener.accept(onInterface: "localhost", port: 0)
        #expect(listener.isIPv4 && listener.isIPv6)
        #expect(code { try socket().accept(onInterface: "nosuch0", port: 0) } == .badParamError)
        #expect(code { try listener.accept(onInterface: nil, port: 0) } == .badConfigError)
        #expect(code { try GCDAsyncSocket().accept(onPort: 0) } == .badConfigError)
    }

    @Test("acceptOnUrl:error:") func onURL() throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path + "/socket")
        let listener = socket()
        try listener.accept(on: url)
        let client = socket()
        try client.connect(to: url, withTimeout: -1)
        #expect(eventually { log.has("connected \(url.path)") && log.accepted.count == 1 })
        listener.disconnect()
        #expect(!FileManager.default.fileExists(atPath: url.path))
        try Data("mine".utf8).write(to: url)
        #expect(throws: NSError.self) { try socket().accept(on: url) }
        #expect(FileManager.default.contents(atPath: url.path) == Data("mine".utf8))
    }
}

@Suite("Connecting with GCDAsyncSocket", .timeLimit(.minutes(10))) struct ConnectingTests {
    private let queue = DispatchQueue.named("delegates")
    private let log = StreamLog()
    private let listener: GCDAsyncSocket
    private let serverLog = StreamLog()

    init() throws {
        listener = GCDAsyncSocket(delegate: serverLog, delegateQueue: queue)
        try listener.accept(onInterface: "127.0.0.1", port: 0)
    }

    private func client() -> GCDAsyncSocket { GCDAsyncSocket(delegate: log, delegateQueue: queue) }
    private var address: Data { listener.localAddress ?? Data() }

    @Test("connectToHost:onPort:error:") func toHost() throws {
        let client = client()
        try client.connect(toHost: "127.0.0.1", onPort: listener.localPort)
        #expect(!client.isDisconnected)
        #expect(eventually { log.has("connected 127.0.0.1") })
        #expect(code { try client.connect(toHost: "127.0.0.1", onPort: 9) } == .badConfigError)
        #expect(client.isConnected)
        #expect(code { try self.client().connect(toHost: "", onPort: 9) } == .badParamError)
        #expect(code { try GCDAsyncSocket().connect(toHost: "127.0.0.1", onPort: 9) } == .badConfigError)
    }

    @Test("connectToHost:onPort:withTimeout:error:") func toHostWithTimeout() throws {
        let hole = try BlackHole()
        let client = client()
        try client.connect(toHost: "127.0.0.1", onPort: hole.port, withTimeout: 0.05)
        #expect(!client.isConnected && !client.isDisconnected)
        #expect(eventually { log.has(StreamLog.ended(.connectTimeoutError)) })
    }

    @Test("connectToHost:onPort:viaInterface:withTimeout:error:") func viaInterface() throws {
        let client = client()
        let port = try Peer.freePort()
        try client.connect(
            toHost: "127.0.0.1", onPort: listener.localPort, viaInterface: "lo:\(port)", withTimeout: 30)
        #expect(eventually { client.localPort == port })
        #expect(
            code {
                try self.client().connect(toHost: "127.0.0.1", onPort: 9, viaInterface: "nosuch0", withTimeout: -1)
            } == .badParamError)
    }

    @Test("connectToAddress:error:") func toAddress() throws {
        let client = client()
        try client.connect(toAddress: address)
        #expect(eventually { client.connectedAddress == address })
        #expect(code { try self.client().connect(toAddress: address.dropLast()) } == .badParamError)
        #expect(code { try self.client().connect(toAddress: address + [0]) } == .badParamError)
    }

    @Test("connectToAddress:withTimeout:error:") func toAddressWithTimeout() throws {
        let hole = try BlackHole()
        try client().connect(toAddress: #require(hole.address.sockaddrBytes.map { Data($0) }), withTimeout: 0.05)
        try client().connect(toAddress: address, withTimeout: 30)
        #expect(eventually { log.has("connected 127.0.0.1") || serverLog.has("accepted") })
    }

    @Test("connectToAddress:viaInterface:withTimeout:error:") func toAddressViaInterface() throws {
        let client = client()
        let port = try Peer.freePort()
        try client.connect(toAddress: address, viaInterface: ":\(port)", withTimeout: -1)
        #expect(eventually { client.localPort == port })
    }

    @Test("connectToUrl:withTimeout:error:") func toURL() throws {
        let client = client()
        try client.connect(to: URL(fileURLWithPath: "/nonexistent/socket"), withTimeout: 5)
        #expect(eventually { log.has("disconnected \(NSPOSIXErrorDomain) \(ENOENT)") })
        let web = try #require(URL(string: "http://x.test"))
        #expect(code { try client.connect(to: web, withTimeout: 5) } == .badParamError)
    }

    @Test("disconnect") func disconnect() throws {
        let pair = try StreamPair()
        pair.client.readData(withTimeout: -1, tag: 9)
        pair.client.disconnect()
        #expect(pair.client.isDisconnected)
        // The call is on the queue already.
        #expect(pair.queue.sync { pair.log.lines.last } == "disconnected")
        pair.client.disconnect()
        pair.queue.sync {}
        #expect(pair.log.count(of: "disconnected") == 1 && !pair.log.has("read 9"))
        #expect(eventually { pair.serverLog.has(StreamLog.ended(.closedError)) })
    }

    @Test("disconnectAfterReading") func afterReading() throws {
        let pair = try RawPair()
        pair.socket.readData(toLength: 3, withTimeout: -1, tag: 1)
        pair.socket.disconnectAfterReading()
        pair.socket.readData(toLength: 1, withTimeout: -1, tag: 2)
        pair.peerSends("abcd")
        #expect(eventually { pair.log.lines.last == "disconnected" })
        #expect(pair.log.text(1) == "abc" && !pair.log.has("read 2"))
    }

    @Test("disconnectAfterWriting") func afterWriting() throws {
        let pair = try RawPair()
        pair.socket.readData(toLength: 3, withTimeout: -1, tag: 1)
        pair.socket.write("abc", tag: 2)
        pair.socket.disconnectAfterWriting()
        pair.socket.write("never", tag: 3)
        #expect(pair.peerReceives(8) == "abc")
        close(pair.pair.peer)
        #expect(eventually { pair.log.lines.last == "disconnected" })
        #expect(pair.log.has("wrote 2") && !pair.log.has("wrote 3"))
    }

    @Test("disconnectAfterReadingAndWriting") func afterBoth() throws {
        let pair = try RawPair()
        pair.socket.readData(toLength: 3, withTimeout: -1, tag: 1)
        pair.socket.write("abc", tag: 2)
        pair.socket.disconnectAfterReadingAndWriting()
        #expect(pair.peerReceives(3) == "abc")
        #expect(eventually { pair.log.has("wrote 2") })
        #expect(pair.socket.isConnected)
        pair.peerSends("xyz")
        #expect(eventually { pair.log.lines.last == "disconnected" })
        #expect(pair.log.text(1) == "xyz")
    }
}
