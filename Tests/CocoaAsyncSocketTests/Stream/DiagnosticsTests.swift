import CocoaAsyncSocket
import Foundation
import SocketTestSupport
import Testing

@Suite("What a GCDAsyncSocket says of itself", .timeLimit(.minutes(10))) struct DiagnosticsTests {
    private let pair: StreamPair

    init() throws { pair = try StreamPair() }

    @Test("isDisconnected") func isDisconnected() throws {
        #expect(GCDAsyncSocket().isDisconnected)
        #expect(!pair.client.isDisconnected && !pair.listener.isDisconnected)
        pair.listener.disconnect()
        #expect(pair.listener.isDisconnected)
        pair.client.disconnect()
        #expect(pair.client.isDisconnected)
    }

    @Test("isConnected") func isConnected() throws {
        #expect(pair.client.isConnected && pair.server.isConnected && !pair.listener.isConnected)
    }

    @Test("connectedHost") func connectedHost() {
        #expect(pair.client.connectedHost == "127.0.0.1" && pair.listener.connectedHost == nil)
        pair.client.disconnect()
        #expect(pair.client.connectedHost == nil)
    }

    @Test("connectedPort") func connectedPort() {
        #expect(pair.client.connectedPort == pair.listener.localPort && pair.listener.connectedPort == 0)
        #expect(pair.server.connectedPort == pair.client.localPort)
    }

    @Test("connectedUrl") func connectedURL() throws {
        #expect(pair.client.connectedUrl == nil)
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path + "/socket")
        let log = StreamLog()
        let listener = GCDAsyncSocket(delegate: log, delegateQueue: pair.queue)
        try listener.accept(on: url)
        let client = GCDAsyncSocket(delegate: log, delegateQueue: pair.queue)
        try client.connect(to: url, withTimeout: 5)
        #expect(eventually { client.connectedUrl?.path == url.path })
        #expect(client.connectedHost == nil && client.localHost == nil && client.connectedAddress == nil)
    }

    @Test("localHost") func localHost() {
        #expect(pair.client.localHost == "127.0.0.1" && pair.listener.localHost == "127.0.0.1")
        #expect(GCDAsyncSocket().localHost == nil)
    }

    @Test("localPort") func localPort() {
        #expect(pair.client.localPort != 0 && GCDAsyncSocket().localPort == 0)
        #expect(pair.server.localPort == pair.listener.localPort)
    }

    @Test("connectedAddress") func connectedAddress() throws {
        let address = try #require(pair.client.connectedAddress)
        #expect(address == pair.server.localAddress && address.count == 16)
        #expect(GCDAsyncSocket.port(fromAddress: address) == pair.client.connectedPort)
    }

    @Test("localAddress") func localAddress() throws {
        let address = try #require(pair.client.localAddress)
        #expect(GCDAsyncSocket.host(fromAddress: address) == "127.0.0.1")
        #expect(GCDAsyncSocket().localAddress == nil)
    }

    @Test("isIPv4") func isIPv4() { #expect(pair.client.isIPv4 && pair.server.isIPv4 && !GCDAsyncSocket().isIPv4) }

    @Test("isIPv6") func isIPv6() { #expect(!pair.client.isIPv6 && !GCDAsyncSocket().isIPv6) }

    @Test("isSecure") func isSecure() { #expect(!pair.client.isSecure && !GCDAsyncSocket().isSecure) }
}

@Suite("The delegate of a GCDAsyncSocket", .timeLimit(.minutes(10))) struct DelegateTests {
    private let queue = DispatchQueue.named("delegates")

    @Test("newSocketQueueForConnectionFromAddress:onSocket:") func newSocketQueue() throws {
        let serverLog = StreamLog()
        serverLog.socketQueue = DispatchQueue.named("theirs")
        let pair = try StreamPair(server: serverLog)
        #expect(eventually { serverLog.lines.prefix(2) == ["queue for 127.0.0.1", "accepted"] })
        var label = ""
        pair.server.perform { label = DispatchQueue.currentName }
        #expect(label == "theirs")
        pair.server.readData(toLength: 3, withTimeout: -1, tag: 1)
        pair.client.write("abc")
        #expect(eventually { serverLog.text(1) == "abc" })
        #expect(serverLog.queues == ["delegates"])
    }

    @Test("socket:didAcceptNewSocket:") func didAccept() throws {
        let pair = try StreamPair()
        #expect(pair.server.delegate === pair.serverLog && pair.server.delegateQueue === pair.queue)
        #expect(pair.server.isConnected && !pair.serverLog.has("connected 127.0.0.1"))
    }

    @Test("socket:didConnectToHost:port:") func didConnect() throws {
        let pair = try StreamPair()
        #expect(pair.log.lines.first == "connected 127.0.0.1")
    }

    @Test("socket:didConnectToUrl:") func didConnectToURL() throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path + "/socket")
        let log = StreamLog()
        let listener = GCDAsyncSocket(delegate: log, delegateQueue: queue)
        try listener.accept(on: url)
        let client = GCDAsyncSocket(delegate: log, delegateQueue: queue)
        try client.connect(to: url, withTimeout: 5)
        #expect(eventually { log.has("connected \(url.path)") })
        #expect(log.count(of: "connected") == 1)
    }

    @Test("socketDidCloseReadStream:") func didCloseReadStream() throws {
        let pair = try RawPair()
        pair.socket.autoDisconnectOnClosedReadStream = false
        pair.peerShutsWrite()
        #expect(eventually { pair.log.has("read stream closed") })
        #expect(pair.socket.isConnected)
        pair.socket.write("still")
        #expect(pair.peerReceives(5) == "still")
    }

    @Test("autoDisconnectOnClosedReadStream") func autoDisconnect() throws {
        let pair = try RawPair()
        #expect(pair.socket.autoDisconnectOnClosedReadStream)
        pair.peerShutsWrite()
        #expect(eventually { pair.log.has(StreamLog.ended(.closedError)) })
        #expect(!pair.log.has("read stream closed"))
    }

    @Test("socketDidDisconnect:withError:") func didDisconnect() throws {
        let port = try HeldPort()
        let log = StreamLog()
        let socket = GCDAsyncSocket(delegate: log, delegateQueue: queue)
        try socket.connect(toHost: "127.0.0.1", onPort: port.port)
        #expect(eventually { log.error?.domain == NSPOSIXErrorDomain })
        #expect(log.error?.code == Int(ECONNREFUSED) && log.error?.localizedDescription == "Connection refused")
        #expect(log.lines.count == 1 && socket.isDisconnected)
    }
}
