import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport
import Testing

/// A delegate of datagram sockets that writes down every call, each as a line.
final class UdpLog: NSObject, GCDAsyncUdpSocketDelegate {
    private struct State {
        var lines: [String] = []
        var error: NSError?
        var closeError: NSError?
        var sources: [Data] = []
    }

    private let state = Lock(State())

    /// All calls so far.
    var lines: [String] { state.withLock { $0.lines } }
    /// The last error.
    var error: NSError? { state.withLock { $0.error } }
    /// The error of the last end.
    var closeError: NSError? { state.withLock { $0.closeError } }
    /// Who sent what was received.
    var sources: [Data] { state.withLock { $0.sources } }
    func has(_ line: String) -> Bool { lines.contains(line) }
    func count(of prefix: String) -> Int { lines.filter { $0.hasPrefix(prefix) }.count }

    private func note(_ line: String, _ error: (any Error)? = nil) {
        state.withLock { state in
            state.lines.append(line)
            if let error { state.error = error as NSError }
        }
    }

    func udpSocket(_ sock: GCDAsyncUdpSocket, didConnectToAddress address: Data) {
        note("connected \(GCDAsyncUdpSocket.host(fromAddress: address) ?? "none")")
    }

    func udpSocket(_ sock: GCDAsyncUdpSocket, didNotConnect error: (any Error)?) { note("not connected", error) }

    func udpSocket(_ sock: GCDAsyncUdpSocket, didSendDataWithTag tag: Int) { note("sent \(tag)") }

    func udpSocket(_ sock: GCDAsyncUdpSocket, didNotSendDataWithTag tag: Int, dueToError error: (any Error)?) {
        note("not sent \(tag)", error)
    }

    func udpSocket(
        _ sock: GCDAsyncUdpSocket, didReceive data: Data, fromAddress address: Data,
        withFilterContext filterContext: Any?
    ) {
        state.withLock { $0.sources.append(address) }
        let context = (filterContext as? NSString).map { " (\($0))" } ?? ""
        note("received \(String(decoding: data, as: UTF8.self))\(context)")
    }

    func udpSocketDidClose(_ sock: GCDAsyncUdpSocket, withError error: (any Error)?) {
        state.withLock { $0.closeError = error as NSError? }
        note(error == nil ? "closed" : "closed by error", error)
    }
}

/// A socket that is bound and receives, and one that sends to it.
final class UdpPair {
    let queue = DispatchQueue.named("delegates")
    let log = UdpLog()
    let serverLog = UdpLog()
    let client: GCDAsyncUdpSocket
    let server: GCDAsyncUdpSocket

    init() throws {
        client = GCDAsyncUdpSocket(delegate: log, delegateQueue: queue)
        server = GCDAsyncUdpSocket(delegate: serverLog, delegateQueue: queue)
        try server.bind(toPort: 0, interface: "127.0.0.1")
        try server.beginReceiving()
    }

    var address: Data { server.localAddress() ?? Data() }

    /// Sends from the client to the server.
    func send(_ text: String, tag: Int = 0) {
        client.send(
            Data(text.utf8), toHost: "127.0.0.1", port: server.localPort(), withTimeout: -1, tag: tag)
    }
}

/// Runs what throws an error of upstream's, and returns the code; nil: it threw none, or another.
func udpCode(_ body: () throws -> Void) -> GCDAsyncUdpSocketError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? GCDAsyncUdpSocketError)?.code
    }
}
