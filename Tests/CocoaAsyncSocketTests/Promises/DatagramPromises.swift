import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport
import Testing

/// What GCDAsyncUdpSocket.h promises in words.
@Suite("Promises of GCDAsyncUdpSocket", .timeLimit(.minutes(10))) struct DatagramPromises {
    private let pair: UdpPair

    init() throws { pair = try UdpPair() }

    @Test("connecting is not needed: each datagram names its destination") func connectionless() throws {
        let other = try UdpPair()
        pair.send("here")
        pair.client.send(Data("there".utf8), toAddress: other.address, withTimeout: -1, tag: 0)
        #expect(eventually { pair.serverLog.has("received here") && other.serverLog.has("received there") })
    }

    @Test("a client need not bind: it gets a port with its first send") func portWithFirstSend() {
        #expect(pair.client.localPort() == 0)
        pair.send("a")
        #expect(eventually { pair.serverLog.has("received a") })
        #expect(pair.client.localPort() != 0)
    }

    @Test("a socket cannot be bound after it was connected") func bindAfterConnect() throws {
        try pair.client.connect(toAddress: pair.address)
        #expect(eventually { pair.client.isConnected() })
        #expect(udpCode { try pair.client.bind(toPort: 0) } == .badConfigError)
    }

    @Test("a socket is bound once") func bindOnce() {
        #expect(udpCode { try pair.server.bind(toPort: 0) } == .badConfigError)
    }

    @Test("a socket can be connected after it was bound") func connectAfterBind() throws {
        try pair.client.bind(toPort: 0, interface: "127.0.0.1")
        let port = pair.client.localPort()
        try pair.client.connect(toAddress: pair.address)
        #expect(eventually { pair.client.isConnected() })
        #expect(pair.client.localPort() == port)
    }

    @Test("a socket is connected once") func connectOnce() throws {
        try pair.client.connect(toAddress: pair.address)
        #expect(udpCode { try pair.client.connect(toAddress: pair.address) } == .badConfigError)
    }

    @Test("a connected socket hears of its peer only") func peerOnly() throws {
        try pair.client.bind(toPort: 0, interface: "127.0.0.1")
        let address = try #require(pair.client.localAddress())
        try pair.client.connect(toAddress: pair.address)
        #expect(eventually { pair.client.isConnected() })
        try pair.client.beginReceiving()
        let stranger = GCDAsyncUdpSocket(delegate: UdpLog(), delegateQueue: pair.queue)
        stranger.send(Data("stranger".utf8), toAddress: address, withTimeout: -1, tag: 0)
        pair.server.send(Data("peer".utf8), toAddress: address, withTimeout: -1, tag: 0)
        #expect(eventually { pair.log.has("received peer") })
        #expect(!pair.log.has("received stranger"))
    }

    @Test("a connect to an address is told to the delegate too") func connectIsTold() throws {
        try pair.client.connect(toAddress: pair.address)
        #expect(eventually { pair.log.has("connected 127.0.0.1") })
    }

    @Test("data without bytes is not sent") func empty() {
        pair.client.send(Data(), toAddress: pair.address, withTimeout: -1, tag: 1)
        pair.send("b", tag: 2)
        #expect(eventually { pair.log.has("sent 2") && pair.serverLog.has("received b") })
        #expect(!pair.log.has("sent 1") && pair.serverLog.lines.count == 1)
    }

    @Test("datagrams are sent in their order, each told once") func order() {
        for tag in 0..<100 { pair.send("\(tag)", tag: tag) }
        #expect(eventually { pair.log.lines == (0..<100).map { "sent \($0)" } })
    }

    @Test("the filter's verdict does not change what the sender hears") func filteredIsSent() {
        pair.client.setSendFilter({ _, _, _ in false }, with: DispatchQueue.named("filter"))
        pair.send("a", tag: 1)
        #expect(eventually { pair.log.has("sent 1") })
        #expect(pair.serverLog.lines.isEmpty)
    }

    @Test("a datagram that is too long for one packet is an error that closes the socket") func tooLong() {
        pair.client.send(Data(count: 65_520), toAddress: pair.address, withTimeout: -1, tag: 1)
        #expect(eventually { pair.log.lines == ["closed by error"] })
        #expect(pair.log.error?.domain == NSPOSIXErrorDomain && pair.log.error?.code == Int(EMSGSIZE))
    }

    @Test("a socket that was closed by an error may be used again") func afterError() {
        pair.client.send(Data(count: 65_520), toAddress: pair.address, withTimeout: -1, tag: 1)
        #expect(eventually { pair.log.has("closed by error") })
        pair.send("again", tag: 2)
        #expect(eventually { pair.serverLog.has("received again") })
    }

    @Test("receiving may be switched between once and always") func modes() throws {
        try pair.server.receiveOnce()
        pair.send("a")
        #expect(eventually { pair.serverLog.has("received a") })
        pair.send("b", tag: 1)
        #expect(eventually { pair.log.has("sent 1") })
        #expect(!pair.serverLog.has("received b"))
        try pair.server.beginReceiving()
        #expect(eventually { pair.serverLog.has("received b") })
    }

    @Test("a filtered datagram does not count as the one of receiveOnce") func onceFiltered() throws {
        pair.server.setReceiveFilter({ data, _, _ in data.count > 1 }, with: DispatchQueue.named("filter"))
        try pair.server.receiveOnce()
        pair.send("a")
        pair.send("bb")
        #expect(eventually { pair.serverLog.lines == ["received bb"] })
    }

    @Test("receiving needs an address") func unbound() {
        let socket = GCDAsyncUdpSocket(delegate: pair.log, delegateQueue: pair.queue)
        #expect(udpCode { try socket.beginReceiving() } == .badConfigError)
    }

    @Test("close drops what is queued, and tells the delegate once") func close() {
        pair.client.setSendFilter({ _, _, _ in true }, with: DispatchQueue.named("filter"))
        for tag in 0..<5 { pair.send("a", tag: tag) }
        pair.client.close()
        pair.queue.sync {}
        #expect(pair.log.lines.last == "closed" && pair.log.count(of: "closed") == 1)
        #expect(pair.log.count(of: "not sent") == 0)
    }

    @Test("closing what was never open tells nothing") func closeNothing() {
        pair.client.close()
        pair.client.closeAfterSending()
        pair.queue.sync {}
        #expect(pair.log.lines.isEmpty)
    }

    @Test("an address family that is switched off is not used") func switchedOff() throws {
        pair.client.setIPv6Enabled(false)
        try pair.client.bind(toPort: 0)
        #expect(pair.client.isIPv4() && !pair.client.isIPv6())
    }

    @Test("without a delegate or its queue, bind and connect are refused") func unready() {
        let noDelegate = GCDAsyncUdpSocket(delegate: nil, delegateQueue: pair.queue)
        #expect(udpCode { try noDelegate.bind(toPort: 0) } == .badConfigError)
        let noQueue = GCDAsyncUdpSocket(delegate: pair.log, delegateQueue: nil)
        #expect(udpCode { try noQueue.connect(toHost: "127.0.0.1", onPort: 9) } == .badConfigError)
    }

    @Test("broadcasts are refused unless they are enabled") func broadcast() {
        pair.client.send(
            Data("x".utf8), toHost: "255.255.255.255", port: 9, withTimeout: -1, tag: 1)
        #expect(eventually { pair.log.has("closed by error") })
        #expect(pair.log.error?.code == Int(EACCES))
    }
}
