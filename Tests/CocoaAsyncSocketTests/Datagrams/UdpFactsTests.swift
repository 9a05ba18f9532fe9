import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport
import Testing

@Suite("What a GCDAsyncUdpSocket says of itself", .timeLimit(.minutes(10))) struct UdpFactsTests {
    private let queue = DispatchQueue.named("delegates")
    private let log = UdpLog()
    private let socket: GCDAsyncUdpSocket

    init() { socket = GCDAsyncUdpSocket(delegate: log, delegateQueue: queue) }

    @Test(
        "localAddress, localHost, localPort, localAddress_IPv4, localHost_IPv4, localPort_IPv4, localAddress_IPv6, localHost_IPv6, localPort_IPv6"
    )
    func local() throws {
        #expect(socket.localAddress() == nil && socket.localHost() == nil && socket.localPort() == 0)
        try socket.bind(toPort: 0, interface: "localhost")
        #expect(socket.localHost() == "127.0.0.1" && socket.localPort() != 0)
        #expect(socket.localHost_IPv4() == "127.0.0.1" && socket.localHost_IPv6() == "::1")
        #expect(socket.localPort_IPv4() == socket.localPort() && socket.localPort_IPv6() == socket.localPort())
        #expect(socket.localAddress() == socket.localAddress_IPv4() && socket.localAddress_IPv6()?.count == 28)
    }

    @Test("connectedAddress, connectedHost, connectedPort, isConnected") func connected() throws {
        let pair = try UdpPair()
        #expect(pair.client.connectedAddress() == nil && pair.client.connectedHost() == nil)
        #expect(pair.client.connectedPort() == 0 && !pair.client.isConnected())
        try pair.client.connect(toAddress: pair.address)
        #expect(eventually { pair.client.isConnected() })
        #expect(pair.client.connectedAddress() == pair.address && pair.client.connectedHost() == "127.0.0.1")
        #expect(pair.client.connectedPort() == pair.server.localPort())
        pair.client.close()
        #expect(!pair.client.isConnected() && pair.client.connectedHost() == nil)
    }

    @Test("isClosed") func isClosed() throws {
        #expect(socket.isClosed())
        try socket.bind(toPort: 0)
        #expect(!socket.isClosed())
        socket.close()
        #expect(socket.isClosed())
    }

    @Test("isIPv4, isIPv6") func families() throws {
        #expect(socket.isIPv4() && socket.isIPv6())
        try socket.bind(toPort: 0, interface: "127.0.0.1")
        #expect(socket.isIPv4() && !socket.isIPv6())
        socket.setIPv4Enabled(false)
        socket.close()
        #expect(!socket.isIPv4() && socket.isIPv6())
    }

    @Test("markSocketQueueTargetQueue:, unmarkSocketQueueTargetQueue:") func marks() throws {
        let target = DispatchQueue.named("target")
        let mine = GCDAsyncUdpSocket(
            delegate: log, delegateQueue: queue, socketQueue: DispatchQueue.named("mine", target: target))
        try mine.bind(toPort: 0)
        mine.markSocketQueueTargetQueue(target)
        #expect(target.sync { mine.socketFD() } >= 0)
        mine.unmarkSocketQueueTargetQueue(target)
        #expect(target.sync { mine.socketFD() } == -1)
    }

    @Test("performBlock:, socketFD, socket4FD, socket6FD") func descriptors() throws {
        try socket.bind(toPort: 0, interface: "localhost")
        #expect(socket.socketFD() == -1 && socket.socket4FD() == -1 && socket.socket6FD() == -1)
        var found: [Int32] = []
        socket.perform { found = [socket.socketFD(), socket.socket4FD(), socket.socket6FD()] }
        #expect(found[0] == found[1] && found[2] >= 0 && found[1] != found[2])
    }

    @Test("readStream, writeStream") func streams() {
        #expect(socket.readStream() == "none" && socket.writeStream() == "none")
    }

    @Test("hostFromAddress:, portFromAddress:, familyFromAddress:, isIPv4Address:, isIPv6Address:") func addresses() {
        let v4 = Data(SocketAddress.v4(host: "192.0.2.7", port: 80).sockaddrBytes ?? [])
        let v6 = Data(SocketAddress.v6(host: "2001:db8::7", port: 443).sockaddrBytes ?? [])
        #expect(GCDAsyncUdpSocket.host(fromAddress: v4) == "192.0.2.7")
        #expect(GCDAsyncUdpSocket.port(fromAddress: v6) == 443)
        #expect([v4, v6, Data()].map(GCDAsyncUdpSocket.family) == [AF_INET, AF_INET6, AF_UNSPEC])
        #expect(GCDAsyncUdpSocket.isIPv4Address(v4) && !GCDAsyncUdpSocket.isIPv4Address(v6))
        #expect(GCDAsyncUdpSocket.isIPv6Address(v6) && !GCDAsyncUdpSocket.isIPv6Address(Data([1])))
    }

    @Test("getHost:port:fromAddress:, getHost:port:family:fromAddress:") func parts() {
        let v4 = Data(SocketAddress.v4(host: "192.0.2.7", port: 80).sockaddrBytes ?? [])
        var host: NSString?
        var (port, family): (UInt16, Int32) = (0, 0)
        #expect(GCDAsyncUdpSocket.getHost(&host, port: &port, fromAddress: v4))
        #expect(GCDAsyncUdpSocket.getHost(&host, port: &port, family: &family, fromAddress: v4))
        #expect(host == "192.0.2.7" && port == 80 && family == AF_INET)
        #expect(!GCDAsyncUdpSocket.getHost(&host, port: &port, family: &family, fromAddress: Data()))
    }
}
