import CocoaAsyncSocket
import Foundation

/// Whoever serves one connection; it keeps it until its end.
protocol Connection: GCDAsyncSocketDelegate {
    /// Begins to read, and keeps the socket, which closes when nobody does.
    func serve(_ socket: GCDAsyncSocket)
}

/// Accepts on loopback, and gives each connection a delegate of its own on the queue that all share.
final class Server: GCDAsyncSocketDelegate {
    private let queue = DispatchQueue(label: "delegates")
    private let makeConnection: () -> any Connection
    private var listener: GCDAsyncSocket?

    init(_ makeConnection: @escaping () -> any Connection) {
        self.makeConnection = makeConnection
    }

    /// The port.
    func start() throws -> UInt16 {
        let listener = GCDAsyncSocket(delegate: self, delegateQueue: queue)
        self.listener = listener
        try listener.accept(onInterface: "127.0.0.1", port: 0)
        return listener.localPort
    }

    func socket(_ sock: GCDAsyncSocket, didAcceptNewSocket newSocket: GCDAsyncSocket) {
        let connection = makeConnection()
        newSocket.delegate = connection
        // The socket holds its delegate weakly, and its user data not.
        newSocket.userData = connection
        connection.serve(newSocket)
    }
}
