import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport
import Testing

/// What the class has not. If it had a member of such a name, that would be taken below, and the types would not agree.
protocol Lacking {}

extension Lacking {
    func connect(to netService: String) -> Bool { true }
    func readStream() -> String { "none" }
    func writeStream() -> String { "none" }
    func sslContext() -> String { "none" }
}

extension GCDAsyncSocket: Lacking {}
extension GCDAsyncUdpSocket: Lacking {}

@Suite("The socket queue of a GCDAsyncSocket", .timeLimit(.minutes(10))) struct AdvancedTests {
    private let queue = DispatchQueue.named("delegates")

    @Test("markSocketQueueTargetQueue:") func mark() throws {
        let target = DispatchQueue.named("target")
        let pair = try StreamPair(socketQueue: DispatchQueue.named("mine", target: target))
        pair.client.markSocketQueueTargetQueue(target)
        #expect(target.sync { pair.client.isConnected })
        // Nothing of the user's is the target of the shared queue.
        pair.server.markSocketQueueTargetQueue(target)
        #expect(target.sync { pair.server.socketFD() } == -1)
    }

    @Test("unmarkSocketQueueTargetQueue:") func unmark() throws {
        let target = DispatchQueue.named("target")
        let pair = try StreamPair(socketQueue: DispatchQueue.named("mine", target: target))
        pair.client.markSocketQueueTargetQueue(target)
        #expect(target.sync { pair.client.socketFD() } >= 0)
        pair.client.unmarkSocketQueueTargetQueue(target)
        #expect(target.sync { pair.client.socketFD() } == -1)
    }

    @Test("performBlock:") func perform() throws {
        let pair = try StreamPair(socketQueue: DispatchQueue.named("mine"))
        var labels: [String] = []
        pair.client.perform {
            labels.append(DispatchQueue.currentName)
            pair.client.perform { labels.append("within") }
        }
        #expect(labels == ["mine", "within"])
    }

    @Test("socketFD") func descriptor() throws {
        let pair = try StreamPair()
        #expect(pair.client.socketFD() == -1)
        var found: Int32 = -1
        pair.client.perform { found = pair.client.socketFD() }
        var option: Int32 = 0
        var length = socklen_t(4)
        #expect(getsockopt(found, SOL_SOCKET, SO_TYPE, &option, &length) == 0)
        #expect(option == Int32(SOCK_STREAM.rawValue))
    }

    @Test("socket4FD") func descriptor4() throws {
        let pair = try StreamPair()
        var (ours, theirs): (Int32, Int32) = (-1, -1)
        pair.client.perform { ours = pair.client.socket4FD() }
        pair.listener.perform { theirs = pair.listener.socket4FD() }
        #expect(ours >= 0 && theirs >= 0 && ours != theirs)
    }

    @Test("socket6FD") func descriptor6() throws {
        let listener = GCDAsyncSocket(delegate: StreamLog(), delegateQueue: queue)
        let log = StreamLog()
        listener.delegate = log
        try listener.accept(onPort: 0)
        var found: (Int32, Int32, Int32) = (-1, -1, -1)
        listener.perform { found = (listener.socketFD(), listener.socket4FD(), listener.socket6FD()) }
        #expect(found.0 == found.1 && found.2 >= 0 && found.2 != found.1)
        let pair = try StreamPair()
        pair.client.perform { #expect(pair.client.socket6FD() == -1) }
    }

    @Test("enableBackgroundingOnSocket") func background() {
        let socket = GCDAsyncSocket()
        socket.perform { #expect(!socket.enableBackgroundingOnSocket()) }
    }

    @Test("connectToNetService:error:") func netService() { #expect(GCDAsyncSocket().connect(to: "none")) }
    @Test("readStream") func readStream() { #expect(GCDAsyncSocket().readStream() == "none") }
    @Test("writeStream") func writeStream() { #expect(GCDAsyncSocket().writeStream() == "none") }
    @Test("sslContext") func sslContext() { #expect(GCDAsyncSocket().sslContext() == "none") }
}

@Suite("Utilities of GCDAsyncSocket", .timeLimit(.minutes(10))) struct UtilityTests {
    private let v4 = Data(SocketAddress.v4(host: "192.0.2.7", port: 80).sockaddrBytes ?? [])
    private let v6 = Data(SocketAddress.v6(host: "2001:db8::7", port: 443).sockaddrBytes ?? [])
    private let unix = Data(SocketAddress.unix(path: "/run/a").sockaddrBytes ?? [])

    @Test("lookupHost:port:error:") func lookup() throws {
        let found = try GCDAsyncSocket.lookupHost("localhost", port: 7)
        #expect(found.compactMap { ($0 as? Data).flatMap(GCDAsyncSocket.host) } == ["127.0.0.1", "::1"])
        let error = #expect(throws: NSError.self) { try GCDAsyncSocket.lookupHost("nobody.invalid", port: 7) }
        #expect(error?.domain == "kCFStreamErrorDomainNetDB")
    }

    @Test("hostFromAddress:") func host() {
        #expect(GCDAsyncSocket.host(fromAddress: v4) == "192.0.2.7")
        #expect(GCDAsyncSocket.host(fromAddress: v6) == "2001:db8::7")
        #expect(GCDAsyncSocket.host(fromAddress: unix) == nil && GCDAsyncSocket.host(fromAddress: Data()) == nil)
    }

    @Test("portFromAddress:") func port() {
        #expect(GCDAsyncSocket.port(fromAddress: v4) == 80 && GCDAsyncSocket.port(fromAddress: v6) == 443)
        #expect(GCDAsyncSocket.port(fromAddress: unix) == 0 && GCDAsyncSocket.port(fromAddress: v4.dropLast()) == 0)
    }

    @Test("isIPv4Address:") func isV4() {
        #expect([v4, v6, unix, Data([1])].map(GCDAsyncSocket.isIPv4Address) == [true, false, false, false])
    }

    @Test("isIPv6Address:") func isV6() {
        #expect([v4, v6, unix, Data([1])].map(GCDAsyncSocket.isIPv6Address) == [false, true, false, false])
    }

    @Test("getHost:port:fromAddress:") func both() {
        var host: NSString?
        var port: UInt16 = 0
        #expect(GCDAsyncSocket.getHost(&host, port: &port, fromAddress: v4))
        #expect(host == "192.0.2.7" && port == 80)
        #expect(!GCDAsyncSocket.getHost(nil, port: nil, fromAddress: unix))
    }

    @Test("getHost:port:family:fromAddress:") func withFamily() {
        var host: NSString?
        var family: sa_family_t = 0
        #expect(GCDAsyncSocket.getHost(&host, port: nil, family: &family, fromAddress: v6))
        #expect(host == "2001:db8::7" && family == sa_family_t(AF_INET6))
    }

    @Test("CRLFData") func crlf() { #expect(GCDAsyncSocket.crlfData() == Data([13, 10])) }
    @Test("CRData") func cr() { #expect(GCDAsyncSocket.crData() == Data([13])) }
    @Test("LFData") func lf() { #expect(GCDAsyncSocket.lfData() == Data([10])) }
    @Test("ZeroData") func zero() { #expect(GCDAsyncSocket.zeroData() == Data([0])) }

    @Test("GCDAsyncSocketErrorDomain") func domain() {
        #expect(GCDAsyncSocketErrorDomain == "GCDAsyncSocketErrorDomain")
    }
    @Test("GCDAsyncSocketException") func exception() { #expect(GCDAsyncSocketException == "GCDAsyncSocketException") }
    @Test("GCDAsyncSocketQueueName") func queueName() { #expect(GCDAsyncSocketQueueName == "GCDAsyncSocket") }
    @Test("GCDAsyncSocketThreadName") func threadName() {
        #expect(GCDAsyncSocketThreadName == "GCDAsyncSocket-CFStream")
    }
    @Test("GCDAsyncSocketLoggingContext") func context() { #expect(GCDAsyncSocketLoggingContext == 65535) }

    @Test(
        "GCDAsyncSocketNoError, GCDAsyncSocketBadConfigError, GCDAsyncSocketBadParamError, GCDAsyncSocketConnectTimeoutError, GCDAsyncSocketReadTimeoutError, GCDAsyncSocketWriteTimeoutError, GCDAsyncSocketReadMaxedOutError, GCDAsyncSocketClosedError, GCDAsyncSocketOtherError"
    )
    func codes() {
        let codes: [GCDAsyncSocketError.Code] = [
            GCDAsyncSocketError.noError, GCDAsyncSocketError.badConfigError, GCDAsyncSocketError.badParamError,
            GCDAsyncSocketError.connectTimeoutError, GCDAsyncSocketError.readTimeoutError,
            GCDAsyncSocketError.writeTimeoutError, GCDAsyncSocketError.readMaxedOutError,
            GCDAsyncSocketError.closedError, GCDAsyncSocketError.otherError,
        ]
        #expect(codes.map(\.rawValue) == Array(0...8))
    }

    @Test("an NSError is a GCDAsyncSocketError by as, as?, and catch") func bridging() throws {
        let error: any Error = NSError(domain: GCDAsyncSocketErrorDomain, code: 7)
        #expect((error as? GCDAsyncSocketError)?.code == .closedError)
        #expect((GCDAsyncSocketError(.closedError) as NSError).code == 7)
        #expect((NSError(domain: NSPOSIXErrorDomain, code: 7) as any Error) as? GCDAsyncSocketError == nil)
        do { throw error } catch GCDAsyncSocketError.closedError {} catch { Issue.record("\(error)") }
    }
}
