import CocoaAsyncSocket
import Foundation

/// Takes a number and so many bytes, 64 KiB by a read, four of them queued; answers with the number; again and again.
final class SinkConnection: Connection {
    private var socket: GCDAsyncSocket?
    private var header = Data()
    private var left = 0
    private var unasked = 0

    func serve(_ socket: GCDAsyncSocket) {
        self.socket = socket
        socket.readData(toLength: 8, withTimeout: -1, tag: 0)
    }

    func socket(_ sock: GCDAsyncSocket, didRead data: Data, withTag tag: Int) {
        guard tag == 1 else { return begin(data, sock) }
        left -= data.count
        guard left == 0 else { return ask(sock) }
        sock.write(header, withTimeout: -1, tag: 0)
        sock.readData(toLength: 8, withTimeout: -1, tag: 0)
    }

    private func begin(_ number: Data, _ sock: GCDAsyncSocket) {
        header = number
        left = number.reversed().reduce(0) { $0 << 8 | Int($1) }
        unasked = left
        for _ in 0..<4 { ask(sock) }
    }

    private func ask(_ sock: GCDAsyncSocket) {
        let length = min(unasked, 65_536)
        guard length > 0 else { return }
        unasked -= length
        sock.readData(toLength: UInt(length), withTimeout: -1, tag: 1)
    }

    func socketDidDisconnect(_ sock: GCDAsyncSocket, withError err: (any Error)?) {
        sock.userData = nil
        socket = nil
    }
}
