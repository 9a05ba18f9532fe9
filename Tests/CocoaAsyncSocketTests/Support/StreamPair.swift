import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport
import Testing

/// A client and the connection that a listener accepted of it, each with a log of its own.
final class StreamPair {
    let queue = DispatchQueue.named("delegates")
    let log: StreamLog
    let serverLog: StreamLog
    let listener: GCDAsyncSocket
    let client: GCDAsyncSocket
    let server: GCDAsyncSocket

    /// Joins two over loopback; `socketQueue` is the client's.
    init(_ log: StreamLog = StreamLog(), server serverLog: StreamLog = StreamLog(), socketQueue: DispatchQueue? = nil)
        throws
    {
        (self.log, self.serverLog) = (log, serverLog)
        listener = GCDAsyncSocket(delegate: serverLog, delegateQueue: queue)
        client = GCDAsyncSocket(delegate: log, delegateQueue: queue, socketQueue: socketQueue)
        try listener.accept(onInterface: "127.0.0.1", port: 0)
        try client.connect(toHost: "127.0.0.1", onPort: listener.localPort)
        server = try #require(eventually { log.has("connected 127.0.0.1") } ? Self.first(of: serverLog) : nil)
    }

    private static func first(of log: StreamLog) -> GCDAsyncSocket? {
        eventually { !log.accepted.isEmpty } ? log.accepted.first : nil
    }
}

/// A socket, and a plain descriptor as its peer.
final class RawPair {
    let queue = DispatchQueue.named("delegates")
    let log: StreamLog
    let socket: GCDAsyncSocket
    let pair: (ours: Int32, peer: Int32)

    init(_ log: StreamLog = StreamLog()) throws {
        self.log = log
        let (ours, peer) = try ConnectedPair.tcpPair()
        pair = (ours, peer)
        socket = try GCDAsyncSocket(fromConnectedSocketFD: ours, delegate: log, delegateQueue: queue)
    }

    deinit { close(pair.peer) }

    /// Sends from the peer.
    func peerSends(_ text: String) {
        _ = Data(text.utf8).withUnsafeBytes { send(pair.peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// Sends FIN from the peer.
    func peerShutsWrite() { shutdown(pair.peer, Int32(SHUT_WR)) }

    /// What the peer receives, up to so many bytes; fewer at the end of the stream.
    func peerReceives(_ count: Int) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: count)
        while bytes.count < count {
            let got = recv(pair.peer, &buffer, count - bytes.count, 0)
            guard got > 0 else { break }
            bytes += buffer[..<got]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Runs what throws an error of upstream's, and returns the code; nil: it threw none, or another.
func code(_ body: () throws -> Void) -> GCDAsyncSocketError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? GCDAsyncSocketError)?.code
    }
}

extension DispatchQueue {
    private static let name = DispatchSpecificKey<String>()

    /// A serial queue that knows its name.
    static func named(_ name: String, target: DispatchQueue? = nil) -> DispatchQueue {
        let queue = DispatchQueue(label: name, target: target)
        queue.setSpecific(key: Self.name, value: name)
        return queue
    }

    /// The name of the queue that this runs on.
    static var currentName: String { getSpecific(key: name) ?? "none" }
}
