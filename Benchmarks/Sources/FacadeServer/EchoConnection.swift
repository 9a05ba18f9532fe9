import CocoaAsyncSocket
import Foundation

/// Sends back what comes.
final class EchoConnection: Connection {
    private var socket: GCDAsyncSocket?

    func serve(_ socket: GCDAsyncSocket) {
        self.socket = socket
        socket.readData(withTimeout: -1, tag: 0)
    }

    func socket(_ sock: GCDAsyncSocket, didRead data: Data, withTag tag: Int) {
        sock.write(data, withTimeout: -1, tag: 0)
        sock.readData(withTimeout: -1, tag: 0)
    }

    func socketDidDisconnect(_ sock: GCDAsyncSocket, withError err: (any Error)?) {
        sock.userData = nil
        socket = nil
    }
}
