import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport
import Testing

@Suite("Making a GCDAsyncUdpSocket", .timeLimit(.minutes(10))) struct UdpConfigurationTests {
    private let queue = DispatchQueue.named("delegates")
    private let socket = GCDAsyncUdpSocket()
    private let log = UdpLog()

    @Test("init") func plain() {
        #expect(socket.isClosed() && socket.delegate() == nil && socket.delegateQueue() == nil)
    }

    @Test("initWithSocketQueue:") func onQueue() {
        let mine = GCDAsyncUdpSocket(socketQueue: DispatchQueue.named("mine"))
        var label = ""
        mine.perform { label = DispatchQueue.currentName }
        #expect(label == "mine")
    }

    @Test("initWithDelegate:delegateQueue:") func withDelegate() {
        let mine = GCDAsyncUdpSocket(delegate: log, delegateQueue: queue)
        #expect(mine.delegate() === log && mine.delegateQueue() === queue)
    }

    @Test("initWithDelegate:delegateQueue:socketQueue:") func withBoth() throws {
        let mine = GCDAsyncUdpSocket(delegate: log, delegateQueue: queue, socketQueue: queue)
        try mine.bind(toPort: 0, interface: "127.0.0.1")
        #expect(queue.sync { !mine.isClosed() })
    }

    @Test("delegate, setDelegate:, synchronouslySetDelegate:") func delegate() {
        socket.setDelegate(log)
        #expect(socket.delegate() === log)
        socket.synchronouslySetDelegate(nil)
        #expect(socket.delegate() == nil)
    }

    @Test("delegateQueue, setDelegateQueue:, synchronouslySetDelegateQueue:") func delegateQueue() {
        socket.setDelegateQueue(queue)
        #expect(socket.delegateQueue() === queue)
        socket.synchronouslySetDelegateQueue(nil)
        #expect(socket.delegateQueue() == nil)
    }

    @Test("getDelegate:delegateQueue:, setDelegate:delegateQueue:, synchronouslySetDelegate:delegateQueue:")
    func both() {
        socket.setDelegate(log, delegateQueue: queue)
        var delegate: (any GCDAsyncUdpSocketDelegate)?
        var found: DispatchQueue?
        socket.getDelegate(&delegate, delegateQueue: &found)
        #expect(delegate === log && found === queue)
        socket.synchronouslySetDelegate(nil, delegateQueue: nil)
        #expect(socket.delegate() == nil && socket.delegateQueue() == nil)
    }

    @Test("isIPv4Enabled, setIPv4Enabled:") func v4() throws {
        #expect(socket.isIPv4Enabled())
        socket.setIPv4Enabled(false)
        socket.setDelegate(log, delegateQueue: queue)
        try socket.bind(toPort: 0, interface: "localhost")
        #expect(!socket.isIPv4() && socket.isIPv6() && !socket.isIPv4Enabled())
    }

    @Test("isIPv6Enabled, setIPv6Enabled:") func v6() throws {
        #expect(socket.isIPv6Enabled())
        socket.setIPv6Enabled(false)
        socket.setDelegate(log, delegateQueue: queue)
        try socket.bind(toPort: 0)
        #expect(socket.isIPv4() && !socket.isIPv6())
        socket.setIPv4Enabled(false)
        socket.close()
        #expect(udpCode { try socket.bind(toPort: 0) } == .badConfigError)
    }

    @Test(
        "isIPv4Preferred, isIPv6Preferred, isIPVersionNeutral, setPreferIPv4, setPreferIPv6, setIPVersionNeutral")
    func preference() {
        func all() -> [Bool] { [socket.isIPv4Preferred(), socket.isIPv6Preferred(), socket.isIPVersionNeutral()] }
        #expect(all() == [false, false, true])
        socket.setPreferIPv4()
        #expect(all() == [true, false, false])
        socket.setPreferIPv6()
        #expect(all() == [false, true, false])
        socket.setIPVersionNeutral()
        #expect(all() == [false, false, true])
    }

    @Test("maxReceiveIPv4BufferSize, setMaxReceiveIPv4BufferSize:") func most4() throws {
        let pair = try UdpPair()
        #expect(pair.server.maxReceiveIPv4BufferSize() == 65_535)
        pair.server.setMaxReceiveIPv4BufferSize(3)
        pair.send("abcdef")
        #expect(eventually { pair.serverLog.has("received abc") })
        #expect(pair.server.maxReceiveIPv4BufferSize() == 3)
    }

    @Test("maxReceiveIPv6BufferSize, setMaxReceiveIPv6BufferSize:") func most6() throws {
        #expect(socket.maxReceiveIPv6BufferSize() == 65_535)
        socket.setMaxReceiveIPv6BufferSize(2)
        socket.setDelegate(log, delegateQueue: queue)
        try socket.bind(toPort: 0, interface: "::1")
        try socket.beginReceiving()
        GCDAsyncUdpSocket().send(
            Data("abcdef".utf8), toHost: "::1", port: socket.localPort(), withTimeout: -1, tag: 0)
        let sender = GCDAsyncUdpSocket(delegate: UdpLog(), delegateQueue: queue)
        sender.send(Data("abcdef".utf8), toHost: "::1", port: socket.localPort(), withTimeout: -1, tag: 0)
        #expect(eventually { log.has("received ab") })
    }

    @Test("maxSendBufferSize, setMaxSendBufferSize:") func longest() throws {
        let pair = try UdpPair()
        #expect(pair.client.maxSendBufferSize() == 65_535)
        pair.client.setMaxSendBufferSize(4)
        pair.send("abcd", tag: 1)
        #expect(eventually { pair.serverLog.has("received abcd") })
        pair.send("abcde", tag: 2)
        #expect(eventually { pair.log.has("closed by error") })
        #expect(pair.log.error?.code == Int(EMSGSIZE) && !pair.log.has("not sent 2") && pair.client.isClosed())
    }

    @Test("userData, setUserData:") func userData() {
        #expect(socket.userData() == nil)
        socket.setUserData(7)
        #expect(socket.userData() as? Int == 7)
    }

    @Test(
        "GCDAsyncUdpSocketNoError, GCDAsyncUdpSocketBadConfigError, GCDAsyncUdpSocketBadParamError, GCDAsyncUdpSocketSendTimeoutError, GCDAsyncUdpSocketClosedError, GCDAsyncUdpSocketOtherError"
    )
    func codes() {
        let codes: [GCDAsyncUdpSocketError.Code] = [
            GCDAsyncUdpSocketError.noError, GCDAsyncUdpSocketError.badConfigError,
            GCDAsyncUdpSocketError.badParamError, GCDAsyncUdpSocketError.sendTimeoutError,
            GCDAsyncUdpSocketError.closedError, GCDAsyncUdpSocketError.otherError,
        ]
        #expect(codes.map(\.rawValue) == Array(0...5))
    }

    @Test(
        "GCDAsyncUdpSocketErrorDomain, GCDAsyncUdpSocketException, GCDAsyncUdpSocketQueueName, GCDAsyncUdpSocketThreadName"
    )
    func constants() {
        #expect(GCDAsyncUdpSocketErrorDomain == "GCDAsyncUdpSocketErrorDomain")
        #expect(GCDAsyncUdpSocketException == "GCDAsyncUdpSocketException")
        #expect(GCDAsyncUdpSocketQueueName == "GCDAsyncUdpSocket")
        #expect(GCDAsyncUdpSocketThreadName == "GCDAsyncUdpSocket-CFStream")
    }
}
