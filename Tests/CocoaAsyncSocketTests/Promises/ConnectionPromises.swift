import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport
import Testing

/// What GCDAsyncSocket.h promises in words of connections.
@Suite("Promises of GCDAsyncSocket about connections", .timeLimit(.minutes(10))) struct ConnectionPromises {
    private let queue = DispatchQueue.named("delegates")
    private let log = StreamLog()

    private func socket() -> GCDAsyncSocket { GCDAsyncSocket(delegate: log, delegateQueue: queue) }

    @Test("every delegate callback runs on the delegate queue") func callbacksOnQueue() throws {
        let pair = try StreamPair()
        pair.client.write("a", tag: 1)
        pair.server.readData(withTimeout: -1, tag: 2)
        #expect(eventually { pair.log.has("wrote 1") && pair.serverLog.has("read 2") })
        pair.client.disconnect()
        #expect(eventually { pair.serverLog.has(StreamLog.ended(.closedError)) })
        #expect(pair.log.queues.union(pair.serverLog.queues) == ["delegates"])
    }

    @Test("without a delegate there is an error before the socket is used") func delegateIsNeeded() {
        #expect(code { try GCDAsyncSocket(delegate: nil, delegateQueue: queue).accept(onPort: 0) } == .badConfigError)
    }

    @Test("without a delegate queue there is an error before the socket is used") func queueIsNeeded() {
        let socket = GCDAsyncSocket(delegate: log, delegateQueue: nil)
        #expect(code { try socket.connect(toHost: "127.0.0.1", onPort: 9) } == .badConfigError)
    }

    @Test("the delegate queue and the socket queue can be the same") func oneQueue() throws {
        let listener = GCDAsyncSocket(delegate: log, delegateQueue: queue, socketQueue: queue)
        try listener.accept(onInterface: "127.0.0.1", port: 0)
        let client = GCDAsyncSocket(delegate: log, delegateQueue: queue, socketQueue: queue)
        try client.connect(toHost: "127.0.0.1", onPort: listener.localPort)
        #expect(eventually { log.accepted.count == 1 && log.has("connected 127.0.0.1") })
        let server = log.accepted[0]
        server.readData(toLength: 4, withTimeout: -1, tag: 1)
        client.write("abcd", tag: 2)
        #expect(eventually { log.text(1) == "abcd" && log.has("wrote 2") })
        #expect(queue.sync { client.isConnected && server.isConnected })
        client.disconnect()
        #expect(eventually { log.count(of: "disconnected") == 2 })
    }

    @Test("many sockets may share one socket queue and talk to each other") func sharedQueue() throws {
        let shared = DispatchQueue.named("shared")
        let pair = try StreamPair(socketQueue: shared)
        let other = GCDAsyncSocket(delegate: pair.log, delegateQueue: pair.queue, socketQueue: shared)
        try other.connect(toHost: "127.0.0.1", onPort: pair.listener.localPort)
        #expect(eventually { other.isConnected && pair.client.isConnected })
    }

    @Test("by default a socket accepts by IPv4 and IPv6 at once, on one port") func bothFamilies() throws {
        let listener = socket()
        try listener.accept(onPort: 0)
        for host in ["127.0.0.1", "::1"] {
            let client = socket()
            try client.connect(toHost: host, onPort: listener.localPort)
            #expect(eventually { client.isConnected })
        }
    }

    @Test("the alternate address delay is 300 ms by default") func delay() {
        #expect(GCDAsyncSocket().alternateAddressDelay == 0.3)
    }

    @Test("a name with both families is reached by IPv4 unless told otherwise") func preference() throws {
        let listener = socket()
        try listener.accept(onInterface: "localhost", port: 0)
        let client = socket()
        try client.connect(toHost: "localhost", onPort: listener.localPort)
        #expect(eventually { log.has("connected 127.0.0.1") && client.isConnected })
    }

    @Test("localhost as interface admits local clients only") func loopback() throws {
        let listener = socket()
        try listener.accept(onInterface: "localhost", port: 0)
        #expect(listener.localHost == "127.0.0.1")
    }

    @Test("an interface may be given by its address") func interfaceByAddress() throws {
        let listener = socket()
        try listener.accept(onInterface: "127.0.0.1", port: 0)
        #expect(listener.localHost == "127.0.0.1" && !listener.isIPv6)
    }

    @Test("a connect that is begun returns at once and its outcome is told") func outcomeIsTold() throws {
        let held = try HeldPort()
        let client = socket()
        try client.connect(toHost: "127.0.0.1", onPort: held.port)
        #expect(eventually { log.lines == ["disconnected \(NSPOSIXErrorDomain) \(ECONNREFUSED)"] })
    }

    @Test("reads and writes may be queued right after a connect, and run once it stands") func queuedEarly() throws {
        let pair = try StreamPair()
        let client = GCDAsyncSocket(delegate: log, delegateQueue: queue)
        try client.connect(toHost: "127.0.0.1", onPort: pair.listener.localPort)
        client.write("first", tag: 1)
        client.readData(toLength: 6, withTimeout: -1, tag: 2)
        #expect(eventually { pair.serverLog.accepted.count == 2 })
        let server = pair.serverLog.accepted[1]
        server.readData(toLength: 5, withTimeout: -1, tag: 3)
        #expect(eventually { pair.serverLog.text(3) == "first" })
        server.write("second", tag: 4)
        #expect(eventually { log.text(2) == "second" })
        #expect(log.lines.first == "connected 127.0.0.1")
    }

    @Test("a negative timeout of a connect means none") func noConnectTimeout() throws {
        let hole = try BlackHole()
        let client = socket()
        try client.connect(toHost: "127.0.0.1", onPort: hole.port, withTimeout: -1)
        client.perform {}
        #expect(!client.isConnected && !client.isDisconnected && log.lines.isEmpty)
        client.disconnect()
        #expect(eventually { log.lines == ["disconnected"] })
    }

    @Test("the host of didConnectToHost is an IP address, not a name") func numericHost() throws {
        let pair = try StreamPair()
        let client = socket()
        try client.connect(toHost: "localhost", onPort: pair.listener.localPort)
        #expect(eventually { log.has("connected 127.0.0.1") })
    }

    @Test("a local port alone may be given as interface") func localPort() throws {
        let pair = try StreamPair()
        let port = try Peer.freePort()
        let client = socket()
        try client.connect(
            toHost: "127.0.0.1", onPort: pair.listener.localPort, viaInterface: ":\(port)", withTimeout: -1)
        #expect(eventually { client.localPort == port })
    }

    @Test("the wrong interface, and a socket that is in use, are refused at once") func refusals() throws {
        let pair = try StreamPair()
        #expect(code { try pair.client.accept(onPort: 0) } == .badConfigError)
        #expect(code { try pair.listener.connect(toHost: "127.0.0.1", onPort: 9) } == .badConfigError)
        #expect(pair.client.isConnected && !pair.listener.isDisconnected)
    }

    @Test("disconnect is synchronous") func disconnect() throws {
        let pair = try StreamPair()
        pair.client.disconnect()
        #expect(pair.client.isDisconnected && !pair.client.isConnected)
    }

    @Test("the call of a disconnect is enqueued behind the delegate methods before it") func disconnectIsLast() throws {
        let pair = try RawPair()
        pair.queue.suspend()
        pair.socket.readData(toLength: 3, withTimeout: -1, tag: 1)
        pair.peerSends("abc")
        #expect(eventually { pair.socket.progressOfRead(returningTag: nil, bytesDone: nil, total: nil).isNaN })
        pair.socket.disconnect()
        pair.queue.resume()
        #expect(eventually { pair.log.lines == ["connected 127.0.0.1", "read 1", "disconnected"] })
    }

    @Test("setDelegate(nil), disconnect, setDelegate, connect tells nothing of the first connection")
    func recipe() throws {
        let pair = try StreamPair()
        let next = StreamLog()
        pair.client.delegate = nil
        pair.client.disconnect()
        pair.client.delegate = next
        try pair.client.connect(toHost: "127.0.0.1", onPort: pair.listener.localPort)
        #expect(eventually { next.has("connected 127.0.0.1") })
        #expect(next.lines == ["connected 127.0.0.1"] && pair.log.lines == ["connected 127.0.0.1"])
    }

    @Test("a disconnected socket can be used again, also within socketDidDisconnect") func reuse() throws {
        let pair = try StreamPair()
        let rounds = Lock(0)
        let log = StreamLog { line, socket in
            let round = rounds.withLock { rounds in
                if line == "disconnected" { rounds += 1 }
                return rounds
            }
            guard line == "disconnected", round < 20 else { return }
            try? socket.connect(toHost: "127.0.0.1", onPort: pair.listener.localPort)
            socket.disconnect()
        }
        let client = GCDAsyncSocket(delegate: log, delegateQueue: queue)
        try client.connect(toHost: "127.0.0.1", onPort: pair.listener.localPort)
        client.disconnect()
        #expect(eventually { rounds.withLock { $0 } == 20 })
        try client.accept(onInterface: "127.0.0.1", port: 0)
        #expect(client.localPort != 0)
    }

    @Test("a socket that is connecting is neither connected nor disconnected") func connecting() throws {
        let hole = try BlackHole()
        let client = socket()
        try client.connect(toHost: "127.0.0.1", onPort: hole.port)
        #expect(!client.isConnected && !client.isDisconnected)
    }

    @Test("hosts and ports are nil and 0 when not connected") func nothing() {
        let socket = GCDAsyncSocket()
        #expect(socket.connectedHost == nil && socket.localHost == nil && socket.connectedAddress == nil)
        #expect(socket.connectedPort == 0 && socket.localPort == 0 && socket.connectedUrl == nil)
    }

    @Test("a new socket has the delegate and the queue of the one that accepted it") func inherited() throws {
        let pair = try StreamPair()
        #expect(pair.server.delegate === pair.serverLog && pair.server.delegateQueue === pair.queue)
    }

    @Test("a new socket that nobody keeps is closed") func notKept() throws {
        final class Careless: GCDAsyncSocketDelegate {}
        let listener = GCDAsyncSocket(delegate: nil, delegateQueue: queue)
        let careless = Careless()
        listener.delegate = careless
        try listener.accept(onInterface: "127.0.0.1", port: 0)
        let client = socket()
        try client.connect(toHost: "127.0.0.1", onPort: listener.localPort)
        #expect(eventually { log.has(StreamLog.ended(.closedError)) && client.isDisconnected })
    }

    @Test("connections outlive the socket that accepted them") func listenerGoes() throws {
        let pair = try StreamPair()
        pair.listener.disconnect()
        #expect(eventually { pair.serverLog.has("disconnected") })
        pair.server.readData(withTimeout: -1, tag: 1)
        pair.client.write("still")
        #expect(eventually { pair.serverLog.text(1) == "still" })
    }

    @Test("a socket that is released while connected closes, and the peer sees the end") func released() throws {
        let pair = try StreamPair()
        var client: GCDAsyncSocket? = GCDAsyncSocket(delegate: log, delegateQueue: queue)
        try client?.connect(toHost: "127.0.0.1", onPort: pair.listener.localPort)
        #expect(eventually { pair.serverLog.accepted.count == 2 && log.has("connected 127.0.0.1") })
        client = nil
        #expect(eventually { pair.serverLog.has(StreamLog.ended(.closedError)) })
    }

    @Test("isIPv4 and isIPv6 of a socket that accepts may both be true") func bothTrue() throws {
        let listener = socket()
        try listener.accept(onPort: 0)
        #expect(listener.isIPv4 && listener.isIPv6)
    }

    @Test("the read stream may close while the write stream goes on, where that was asked for") func halfOpen() throws {
        let pair = try RawPair()
        pair.socket.autoDisconnectOnClosedReadStream = false
        pair.socket.readData(toLength: 3, withTimeout: -1, tag: 1)
        pair.peerSends("abc")
        pair.peerShutsWrite()
        #expect(eventually { pair.log.has("read stream closed") })
        #expect(pair.log.lines == ["connected 127.0.0.1", "read 1", "read stream closed"])
        pair.socket.write("late", tag: 2)
        #expect(pair.peerReceives(4) == "late")
    }

    @Test("half-close may be asked for on a connection that was accepted") func halfOpenOfAccepted() throws {
        let serverLog = StreamLog { line, socket in
            if line == "accepted" { socket.autoDisconnectOnClosedReadStream = false }
        }
        let pair = try StreamPair(server: serverLog)
        pair.client.perform { shutdown(pair.client.socketFD(), Int32(SHUT_WR)) }
        #expect(eventually { serverLog.has("read stream closed") })
        #expect(pair.server.isConnected)
    }

    @Test("descriptors can be had within performBlock only") func descriptors() throws {
        let pair = try StreamPair()
        var within: Int32 = -1
        pair.client.perform { within = pair.client.socketFD() }
        #expect(within >= 0 && pair.client.socketFD() == -1)
    }
}
