import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport

/// A delegate that writes down every call, each as a line.
final class StreamLog: NSObject, GCDAsyncSocketDelegate {
    private struct State {
        var lines: [String] = []
        var data: [Int: [Data]] = [:]
        var error: NSError?
        var queues: Set<String> = []
    }

    private let state = Lock(State())
    private let sockets = Lock<[GCDAsyncSocket]>([])
    /// What `shouldTimeout...` answers, one after the other; then 0.
    let extensions = Lock<[TimeInterval]>([])
    /// Runs in each call.
    let onCall: (String, GCDAsyncSocket) -> Void
    /// What `newSocketQueue...` answers.
    var socketQueue: DispatchQueue?

    init(onCall: @escaping (String, GCDAsyncSocket) -> Void = { _, _ in }) { self.onCall = onCall }

    /// All calls so far.
    var lines: [String] { state.withLock { $0.lines } }
    /// The connections that were accepted.
    var accepted: [GCDAsyncSocket] { sockets.withLock { $0 } }
    /// The error of the last end.
    var error: NSError? { state.withLock { $0.error } }
    /// The labels of the queues on which it was called.
    var queues: Set<String> { state.withLock { $0.queues } }

    /// What was read under a tag, joined.
    func text(_ tag: Int) -> String { String(decoding: bytes(tag), as: UTF8.self) }
    func bytes(_ tag: Int) -> Data { reads(tag).reduce(Data(), +) }
    func reads(_ tag: Int) -> [Data] { state.withLock { $0.data[tag] ?? [] } }
    func has(_ line: String) -> Bool { lines.contains(line) }
    func count(of prefix: String) -> Int { lines.filter { $0.hasPrefix(prefix) }.count }

    /// Gives up the connections that it keeps.
    func forget() { sockets.replace(with: []) { swap(&$0, &$1) } }

    private func note(_ line: String, _ socket: GCDAsyncSocket) {
        let label = DispatchQueue.currentName
        state.withLock { ($0.lines, $0.queues) = ($0.lines + [line], $0.queues.union([label])) }
        onCall(line, socket)
    }

    func newSocketQueueForConnection(fromAddress address: Data, on sock: GCDAsyncSocket) -> DispatchQueue? {
        note("queue for \(GCDAsyncSocket.host(fromAddress: address) ?? "none")", sock)
        return socketQueue
    }

    func socket(_ sock: GCDAsyncSocket, didAcceptNewSocket newSocket: GCDAsyncSocket) {
        sockets.withLock { $0.append(newSocket) }
        note("accepted", newSocket)
    }

    func socket(_ sock: GCDAsyncSocket, didConnectToHost host: String, port: UInt16) {
        note("connected \(host)", sock)
    }

    func socket(_ sock: GCDAsyncSocket, didConnectTo url: URL) { note("connected \(url.path)", sock) }

    func socket(_ sock: GCDAsyncSocket, didRead data: Data, withTag tag: Int) {
        state.withLock { $0.data[tag, default: []].append(data) }
        note("read \(tag)", sock)
    }

    func socket(_ sock: GCDAsyncSocket, didReadPartialDataOfLength partialLength: UInt, tag: Int) {
        note("part of read \(tag): \(partialLength)", sock)
    }

    func socket(_ sock: GCDAsyncSocket, didWriteDataWithTag tag: Int) { note("wrote \(tag)", sock) }

    func socket(_ sock: GCDAsyncSocket, didWritePartialDataOfLength partialLength: UInt, tag: Int) {
        note("part of write \(tag): \(partialLength)", sock)
    }

    private func extend() -> TimeInterval { extensions.withLock { $0.isEmpty ? 0 : $0.removeFirst() } }

    func socket(
        _ sock: GCDAsyncSocket, shouldTimeoutReadWithTag tag: Int, elapsed: TimeInterval, bytesDone length: UInt
    ) -> TimeInterval {
        note("timeout of read \(tag) at \(elapsed): \(length)", sock)
        return extend()
    }

    func socket(
        _ sock: GCDAsyncSocket, shouldTimeoutWriteWithTag tag: Int, elapsed: TimeInterval, bytesDone length: UInt
    ) -> TimeInterval {
        note("timeout of write \(tag) at \(elapsed)", sock)
        return extend()
    }

    func socketDidCloseReadStream(_ sock: GCDAsyncSocket) { note("read stream closed", sock) }

    func socketDidDisconnect(_ sock: GCDAsyncSocket, withError err: (any Error)?) {
        let error = err as NSError?
        state.withLock { $0.error = error }
        note(error.map { "disconnected \($0.domain) \($0.code)" } ?? "disconnected", sock)
    }

    func socketDidSecure(_ sock: GCDAsyncSocket) { note("secured", sock) }
}

extension StreamLog {
    /// What its last line says of the end with this code of upstream's.
    static func ended(_ code: GCDAsyncSocketError.Code) -> String {
        "disconnected \(GCDAsyncSocketErrorDomain) \(code.rawValue)"
    }
}

extension GCDAsyncSocket {
    /// Writes a text.
    func write(_ text: String, tag: Int = 0) { write(Data(text.utf8), withTimeout: -1, tag: tag) }
}
