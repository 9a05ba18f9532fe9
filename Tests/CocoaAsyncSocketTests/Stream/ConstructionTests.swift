import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport
import Testing

@Suite("Making a GCDAsyncSocket", .timeLimit(.minutes(10))) struct ConstructionTests {
    private let queue = DispatchQueue.named("delegates")

    @Test("init") func plain() {
        let socket = GCDAsyncSocket()
        #expect(socket.delegate == nil && socket.delegateQueue == nil && socket.isDisconnected)
    }

    @Test("initWithSocketQueue:") func onQueue() throws {
        let mine = DispatchQueue.named("mine")
        let socket = GCDAsyncSocket(socketQueue: mine)
        var label = ""
        socket.perform { label = DispatchQueue.currentName }
        #expect(label == "mine" && socket.delegate == nil)
    }

    @Test("initWithDelegate:delegateQueue:") func withDelegate() {
        let log = StreamLog()
        let socket = GCDAsyncSocket(delegate: log, delegateQueue: queue)
        #expect(socket.delegate === log && socket.delegateQueue === queue)
    }

    @Test("initWithDelegate:delegateQueue:socketQueue:") func withBoth() throws {
        let pair = try StreamPair(socketQueue: DispatchQueue.named("mine"))
        var label = ""
        pair.client.perform { label = DispatchQueue.currentName }
        #expect(label == "mine" && pair.client.isConnected)
        #expect(pair.log.queues == ["delegates"])
    }

    @Test("socketFromConnectedSocketFD:socketQueue:error:") func adopting() throws {
        let (ours, peer) = try ConnectedPair.tcpPair()
        defer { close(peer) }
        let socket = try GCDAsyncSocket(fromConnectedSocketFD: ours, socketQueue: DispatchQueue.named("mine"))
        #expect(socket.isConnected && socket.connectedHost == "127.0.0.1" && socket.delegate == nil)
    }

    @Test("socketFromConnectedSocketFD:delegate:delegateQueue:error:") func adoptingWithDelegate() throws {
        let pair = try RawPair()
        #expect(pair.socket.isConnected)
        #expect(eventually { pair.log.has("connected 127.0.0.1") })
        let unconnected = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(unconnected) }
        #expect(
            code {
                _ = try GCDAsyncSocket(fromConnectedSocketFD: unconnected, delegate: pair.log, delegateQueue: queue)
            } == .otherError)
        #expect(fcntl(unconnected, F_GETFD) >= 0)
    }

    @Test("socketFromConnectedSocketFD:delegate:delegateQueue:socketQueue:error:") func adoptingOnQueue() throws {
        let (ours, peer) = try ConnectedPair.tcpPair()
        defer { close(peer) }
        let log = StreamLog()
        let socket = try GCDAsyncSocket(
            fromConnectedSocketFD: ours, delegate: log, delegateQueue: queue, socketQueue: queue)
        #expect(eventually { log.has("connected 127.0.0.1") })
        socket.write("abc")
        #expect(eventually { log.has("wrote 0") })
        #expect(log.queues == ["delegates"])
    }

    @Test("delegate") func delegate() {
        let socket = GCDAsyncSocket()
        var log: StreamLog? = StreamLog()
        socket.delegate = log
        #expect(socket.delegate === log)
        log = nil
        #expect(socket.delegate == nil)
    }

    @Test("delegateQueue") func delegateQueue() throws {
        let pair = try StreamPair()
        pair.client.delegateQueue = DispatchQueue.named("other")
        pair.client.write("abc", tag: 1)
        #expect(eventually { pair.log.has("wrote 1") })
        #expect(pair.log.queues == ["delegates", "other"])
        pair.client.delegateQueue = nil
        #expect(pair.client.delegateQueue == nil)
    }

    @Test("getDelegate:delegateQueue:") func both() {
        let log = StreamLog()
        let socket = GCDAsyncSocket(delegate: log, delegateQueue: queue)
        var delegate: (any GCDAsyncSocketDelegate)?
        var found: DispatchQueue?
        socket.getDelegate(&delegate, delegateQueue: &found)
        #expect(delegate === log && found === queue)
    }

    @Test("setDelegate:delegateQueue:") func setBoth() {
        let (socket, log) = (GCDAsyncSocket(), StreamLog())
        socket.setDelegate(log, delegateQueue: queue)
        #expect(socket.delegate === log && socket.delegateQueue === queue)
    }

    @Test("synchronouslySetDelegate:") func setDelegate() {
        let (socket, log) = (GCDAsyncSocket(), StreamLog())
        socket.synchronouslySetDelegate(log)
        #expect(socket.delegate === log)
    }

    @Test("synchronouslySetDelegateQueue:") func setQueue() {
        let socket = GCDAsyncSocket()
        socket.synchronouslySetDelegateQueue(queue)
        #expect(socket.delegateQueue === queue)
    }

    @Test("synchronouslySetDelegate:delegateQueue:") func setBothNow() {
        let (socket, log) = (GCDAsyncSocket(), StreamLog())
        socket.synchronouslySetDelegate(log, delegateQueue: queue)
        #expect(socket.delegate === log && socket.delegateQueue === queue)
    }

    @Test("userData") func userData() throws {
        let pair = try StreamPair()
        #expect(pair.client.userData == nil)
        pair.client.userData = "mine"
        pair.client.disconnect()
        #expect(pair.client.userData as? String == "mine")
    }
}

@Suite("Families", .timeLimit(.minutes(10))) struct FamilyTests {
    private let queue = DispatchQueue.named("delegates")

    private func listening(
        port: UInt16 = 0, _ configure: (GCDAsyncSocket) -> Void
    ) throws -> (GCDAsyncSocket, StreamLog) {
        let log = StreamLog()
        let socket = GCDAsyncSocket(delegate: log, delegateQueue: queue)
        configure(socket)
        try socket.accept(onInterface: "localhost", port: port)
        return (socket, log)
    }

    @Test("IPv4Enabled") func v4() throws {
        // Nobody else listens at this port of IPv4 meanwhile.
        let held = try HeldPort()
        let (listener, log) = try listening(port: held.port) { $0.isIPv4Enabled = false }
        #expect(!listener.isIPv4Enabled && listener.isIPv6 && !listener.isIPv4)
        let client = GCDAsyncSocket(delegate: log, delegateQueue: queue)
        try client.connect(toHost: "127.0.0.1", onPort: listener.localPort)
        #expect(eventually { log.has("disconnected \(NSPOSIXErrorDomain) \(ECONNREFUSED)") })
        client.isIPv4Enabled = false
        #expect(code { try client.connect(toHost: "127.0.0.1", onPort: 9) } == .badParamError)
    }

    @Test("IPv6Enabled") func v6() throws {
        let (listener, log) = try listening { $0.isIPv6Enabled = false }
        #expect(!listener.isIPv6Enabled && listener.isIPv4 && !listener.isIPv6)
        let client = GCDAsyncSocket(delegate: log, delegateQueue: queue)
        try client.connect(toHost: "localhost", onPort: listener.localPort)
        #expect(eventually { log.accepted.first?.isIPv4 == true })
        client.disconnect()
        (client.isIPv4Enabled, client.isIPv6Enabled) = (false, false)
        #expect(code { try client.connect(toHost: "127.0.0.1", onPort: 9) } == .badConfigError)
    }

    @Test("IPv4PreferredOverIPv6", arguments: [true, false]) func preferred(isIPv4: Bool) throws {
        let (listener, log) = try listening { _ in }
        let client = GCDAsyncSocket(delegate: log, delegateQueue: queue)
        #expect(client.isIPv4PreferredOverIPv6)
        client.isIPv4PreferredOverIPv6 = isIPv4
        try client.connect(toHost: "localhost", onPort: listener.localPort)
        #expect(eventually { log.has(isIPv4 ? "connected 127.0.0.1" : "connected ::1") })
    }

    @Test("alternateAddressDelay") func delay() throws {
        let socket = GCDAsyncSocket()
        #expect(socket.alternateAddressDelay == 0.3)
        // Only the second address answers, and it is tried at once.
        let (listener, log) = try listening { $0.isIPv4Enabled = false }
        let client = GCDAsyncSocket(delegate: log, delegateQueue: queue)
        client.alternateAddressDelay = 0
        #expect(client.alternateAddressDelay == 0)
        try client.connect(toHost: "localhost", onPort: listener.localPort)
        #expect(eventually { log.has("connected ::1") })
    }
}
