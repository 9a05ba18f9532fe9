import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport
import Testing

@Suite("Opening a GCDAsyncUdpSocket", .timeLimit(.minutes(10))) struct UdpOpeningTests {
    private let queue = DispatchQueue.named("delegates")
    private let log = UdpLog()
    private let socket: GCDAsyncUdpSocket

    init() { socket = GCDAsyncUdpSocket(delegate: log, delegateQueue: queue) }

    @Test("bindToPort:error:") func bind() throws {
        #expect(udpCode { try GCDAsyncUdpSocket().bind(toPort: 0) } == .badConfigError)
        try socket.bind(toPort: 0)
        #expect(socket.localPort() != 0 && socket.isIPv4() && socket.isIPv6())
        #expect(udpCode { try socket.bind(toPort: 0) } == .badConfigError)
    }

    @Test("bindToPort:interface:error:") func bindToInterface() throws {
        #expect(udpCode { try socket.bind(toPort: 0, interface: "nosuch0") } == .badParamError)
        try socket.bind(toPort: 0, interface: "lo")
        #expect(socket.localHost() == "127.0.0.1")
        let other = GCDAsyncUdpSocket(delegate: log, delegateQueue: queue)
        let error = #expect(throws: NSError.self) {
            try other.bind(toPort: socket.localPort(), interface: "127.0.0.1")
        }
        #expect(error?.domain == NSPOSIXErrorDomain && error?.code == Int(EADDRINUSE))
    }

    @Test("bindToAddress:error:") func bindToAddress() throws {
        let address = Data(SocketAddress.v4(host: "127.0.0.1", port: 0).sockaddrBytes ?? [])
        try socket.bind(toAddress: address)
        #expect(socket.localHost() == "127.0.0.1")
        #expect(udpCode { try socket.bind(toAddress: Data([1])) } == .badParamError)
    }

    @Test("connectToHost:onPort:error:") func connect() throws {
        let pair = try UdpPair()
        try pair.client.connect(toHost: "127.0.0.1", onPort: pair.server.localPort())
        #expect(udpCode { try pair.client.connect(toHost: "127.0.0.1", onPort: 9) } == .badConfigError)
        #expect(eventually { pair.log.has("connected 127.0.0.1") })
        #expect(udpCode { try socket.connect(toHost: "", onPort: 9) } == .badParamError)
    }

    @Test("connectToAddress:error:") func connectToAddress() throws {
        let pair = try UdpPair()
        try pair.client.connect(toAddress: pair.address)
        pair.client.send(Data("abc".utf8), withTimeout: -1, tag: 1)
        #expect(eventually { pair.serverLog.has("received abc") && pair.log.has("connected 127.0.0.1") })
    }

    @Test("udpSocket:didConnectToAddress:") func didConnect() throws {
        let pair = try UdpPair()
        try pair.client.connect(toHost: "localhost", onPort: pair.server.localPort())
        #expect(eventually { pair.log.lines.first?.hasPrefix("connected") == true })
    }

    @Test("udpSocket:didNotConnect:") func didNotConnect() throws {
        try socket.connect(toHost: "nobody.invalid", onPort: 9)
        #expect(eventually { log.has("not connected") })
        #expect(log.error?.domain == "kCFStreamErrorDomainNetDB" && !log.has("closed by error"))
    }

    @Test(
        "joinMulticastGroup:error:, joinMulticastGroup:onInterface:error:, leaveMulticastGroup:error:, leaveMulticastGroup:onInterface:error:, sendIPv4MulticastOnInterface:error:"
    )
    func groups() throws {
        #expect(udpCode { try socket.joinMulticastGroup("224.0.0.251") } == .badConfigError)
        socket.close()
        try socket.bind(toPort: 0)
        #expect(udpCode { try socket.joinMulticastGroup("127.0.0.1") } == .badParamError)
        #expect(udpCode { try socket.joinMulticastGroup("239.1.2.3", onInterface: "nosuch0") } == .badParamError)
        try socket.joinMulticastGroup("239.1.2.3", onInterface: "lo")
        try socket.beginReceiving()
        let sender = GCDAsyncUdpSocket(delegate: UdpLog(), delegateQueue: queue)
        try sender.sendIPv4Multicast(onInterface: "127.0.0.1")
        sender.send(Data("all".utf8), toHost: "239.1.2.3", port: socket.localPort(), withTimeout: -1, tag: 0)
        #expect(eventually { log.has("received all") })
        try socket.leaveMulticastGroup("239.1.2.3", onInterface: "lo")
        #expect(throws: NSError.self) { try socket.leaveMulticastGroup("239.1.2.3") }
    }

    @Test("sendIPv6MulticastOnInterface:error:") func v6Groups() throws {
        try socket.sendIPv6Multicast(onInterface: "lo")
        #expect(udpCode { try socket.sendIPv6Multicast(onInterface: "nosuch0") } == .badParamError)
    }

    @Test("enableReusePort:error:") func reusePort() throws {
        try socket.enableReusePort(true)
        try socket.bind(toPort: 0, interface: "127.0.0.1")
        let other = GCDAsyncUdpSocket(delegate: log, delegateQueue: queue)
        try other.enableReusePort(true)
        try other.bind(toPort: socket.localPort(), interface: "127.0.0.1")
        #expect(other.localPort() == socket.localPort())
    }

    @Test("setBroadcastEnabled:error:") func broadcast() throws {
        try socket.setBroadcastEnabled(true)
        try socket.bind(toPort: 0)
        var option: Int32 = 0
        var length = socklen_t(4)
        socket.perform { getsockopt(socket.socket4FD(), SOL_SOCKET, SO_BROADCAST, &option, &length) }
        #expect(option == 1)
        try socket.setBroadcastEnabled(false)
        socket.perform { getsockopt(socket.socket4FD(), SOL_SOCKET, SO_BROADCAST, &option, &length) }
        #expect(option == 0)
    }
}

@Suite("Datagrams of a GCDAsyncUdpSocket", .timeLimit(.minutes(10))) struct UdpTrafficTests {
    private let pair: UdpPair

    init() throws { pair = try UdpPair() }

    @Test("sendData:withTimeout:tag:") func toPeer() throws {
        pair.client.send(Data("lost".utf8), withTimeout: -1, tag: 1)
        #expect(eventually { pair.log.has("not sent 1") })
        #expect((pair.log.error as (any Error)? as? GCDAsyncUdpSocketError)?.code == .badConfigError)
        try pair.client.connect(toAddress: pair.address)
        pair.client.send(Data(), withTimeout: -1, tag: 2)
        pair.client.send(Data("abc".utf8), withTimeout: -1, tag: 3)
        #expect(eventually { pair.serverLog.has("received abc") && pair.log.has("sent 3") })
        #expect(!pair.log.has("sent 2"))
    }

    @Test("sendData:toHost:port:withTimeout:tag:") func toHost() throws {
        pair.send("abc", tag: 1)
        #expect(eventually { pair.serverLog.has("received abc") && pair.log.has("sent 1") })
        try pair.client.connect(toAddress: pair.address)
        #expect(eventually { pair.client.isConnected() })
        pair.send("def", tag: 2)
        #expect(eventually { pair.log.has("not sent 2") })
    }

    @Test("sendData:toAddress:withTimeout:tag:") func toAddress() throws {
        pair.client.send(Data("abc".utf8), toAddress: pair.address, withTimeout: -1, tag: 1)
        pair.client.send(Data("abc".utf8), toAddress: Data([1]), withTimeout: -1, tag: 2)
        #expect(eventually { pair.serverLog.has("received abc") && pair.log.has("not sent 2") })
        try pair.client.connect(toAddress: pair.address)
        #expect(eventually { pair.client.isConnected() })
        let elsewhere = Data(SocketAddress.v4(host: "127.0.0.1", port: 9).sockaddrBytes ?? [])
        pair.client.send(Data("def".utf8), toAddress: elsewhere, withTimeout: -1, tag: 3)
        #expect(eventually { pair.serverLog.has("received def") })
    }

    @Test("setSendFilter:withQueue:, setSendFilter:withQueue:isAsynchronous:", arguments: [true, false])
    func sendFilter(isAsynchronous: Bool) throws {
        let seen = Lock<[String]>([])
        let filter: GCDAsyncUdpSocketSendFilterBlock = { data, address, tag in
            let host = GCDAsyncUdpSocket.host(fromAddress: address) ?? "none"
            seen.withLock { $0.append("\(String(decoding: data, as: UTF8.self)) to \(host) \(tag)") }
            return tag != 1
        }
        let queue = DispatchQueue.named("filter")
        pair.client.setSendFilter(filter, with: queue)
        pair.client.setSendFilter(filter, with: queue, isAsynchronous: isAsynchronous)
        for tag in 1...2 { pair.send("d\(tag)", tag: tag) }
        #expect(eventually { pair.serverLog.has("received d2") && pair.log.has("sent 2") })
        #expect(pair.log.has("sent 1") && !pair.serverLog.has("received d1"))
        #expect(seen.withLock { $0 } == ["d1 to 127.0.0.1 1", "d2 to 127.0.0.1 2"])
        pair.client.setSendFilter(nil, with: nil)
        pair.send("d1", tag: 1)
        #expect(eventually { pair.serverLog.has("received d1") })
    }

    @Test("setReceiveFilter:withQueue:, setReceiveFilter:withQueue:isAsynchronous:", arguments: [true, false])
    func receiveFilter(isAsynchronous: Bool) throws {
        let filter: GCDAsyncUdpSocketReceiveFilterBlock = { data, address, context in
            guard data.count == 2, GCDAsyncUdpSocket.isIPv4Address(address) else { return false }
            context.pointee = NSString(string: "seen")
            return true
        }
        let queue = DispatchQueue.named("filter")
        pair.server.setReceiveFilter(filter, with: queue)
        pair.server.setReceiveFilter(filter, with: queue, isAsynchronous: isAsynchronous)
        pair.send("abc")
        pair.send("ab")
        #expect(eventually { pair.serverLog.has("received ab (seen)") })
        #expect(!pair.serverLog.has("received abc"))
        pair.server.setReceiveFilter(nil, with: nil)
        pair.send("abc")
        #expect(eventually { pair.serverLog.has("received abc") })
    }

    @Test("receiveOnce:") func once() throws {
        #expect(udpCode { try GCDAsyncUdpSocket().receiveOnce() } == .badConfigError)
        try pair.server.receiveOnce()
        for text in ["a", "b"] { pair.send(text) }
        #expect(eventually { pair.log.count(of: "sent") == 2 && pair.serverLog.has("received a") })
        try pair.server.receiveOnce()
        #expect(eventually { pair.serverLog.lines == ["received a", "received b"] })
    }

    @Test("beginReceiving:") func begin() throws {
        #expect(udpCode { try GCDAsyncUdpSocket().beginReceiving() } == .badConfigError)
        for index in 0..<20 { pair.send("\(index)") }
        #expect(eventually { pair.serverLog.lines == (0..<20).map { "received \($0)" } })
    }

    @Test("pauseReceiving") func pause() throws {
        pair.server.pauseReceiving()
        pair.send("a", tag: 1)
        #expect(eventually { pair.log.has("sent 1") })
        #expect(pair.serverLog.lines.isEmpty)
        try pair.server.beginReceiving()
        #expect(eventually { pair.serverLog.has("received a") })
    }

    @Test("close") func close() throws {
        GCDAsyncUdpSocket().close()
        let port = pair.server.localPort()
        pair.server.close()
        #expect(pair.server.isClosed())
        #expect(pair.queue.sync { pair.serverLog.lines } == ["closed"])
        pair.server.close()
        // It may be used again.
        try pair.server.bind(toPort: port, interface: "127.0.0.1")
        #expect(pair.server.localPort() == port && pair.serverLog.lines == ["closed"])
    }

    @Test("closeAfterSending") func closeAfterSending() {
        for tag in 0..<50 { pair.send("x", tag: tag) }
        pair.client.closeAfterSending()
        #expect(eventually { pair.log.has("closed") })
        #expect(pair.log.lines == (0..<50).map { "sent \($0)" } + ["closed"])
        #expect(eventually { pair.serverLog.lines.count == 50 })
    }

    @Test("udpSocket:didSendDataWithTag:") func didSend() {
        for tag in 3...5 { pair.send("x", tag: tag) }
        #expect(eventually { pair.log.lines == ["sent 3", "sent 4", "sent 5"] })
    }

    @Test("udpSocket:didNotSendDataWithTag:dueToError:") func didNotSend() {
        pair.client.send(Data("x".utf8), toHost: "nobody.invalid", port: 9, withTimeout: -1, tag: 3)
        #expect(eventually { pair.log.has("not sent 3") })
        #expect(pair.log.error?.domain == "kCFStreamErrorDomainNetDB" && !pair.log.has("closed by error"))
    }

    @Test("udpSocket:didReceiveData:fromAddress:withFilterContext:") func didReceive() {
        pair.send("abc")
        #expect(eventually { pair.serverLog.has("received abc") })
        #expect(GCDAsyncUdpSocket.port(fromAddress: pair.serverLog.sources[0]) == pair.client.localPort())
    }

    @Test("udpSocketDidClose:withError:") func didClose() throws {
        let port = try HeldPort()
        try pair.client.connect(toHost: "127.0.0.1", onPort: port.port)
        pair.client.send(Data("x".utf8), withTimeout: -1, tag: 1)
        _ = eventually { pair.log.has("sent 1") }
        pair.client.send(Data("x".utf8), withTimeout: -1, tag: 2)
        // Whoever held the port for TCP has none for UDP, so the kernel says that nobody is there.
        try? pair.client.beginReceiving()
        #expect(eventually { pair.log.has("closed by error") })
        #expect(pair.log.closeError?.code == Int(ECONNREFUSED))
    }
}
