import SocketKit
import SocketTestSupport
import Testing

/// Our end of a TLS connection to another program, and what it told.
final class TLSEnd {
    let engine: SocketEngine
    let socket: AsyncSocket
    let recorder: Recorder

    private init(_ engine: SocketEngine, _ socket: AsyncSocket, _ recorder: Recorder) {
        (self.engine, self.socket, self.recorder) = (engine, socket, recorder)
    }

    /// Connects to this port of the loopback, and waits until TLS established or has failed.
    static func connected(
        to port: UInt16, _ settings: TLSSettings = .testClient(), engine: SocketEngine = SocketEngine()
    ) throws -> TLSEnd {
        let recorder = Recorder()
        let end = TLSEnd(engine, AsyncSocket(engine: engine, delegate: recorder), recorder)
        try end.socket.connect(
            to: .tcp(host: "127.0.0.1", port: port), timeout: .seconds(10),
            tls: settings.with { $0.handshakeTimeout = .seconds(30) })
        try #require(eventually { recorder.calls.contains(.secured) || recorder.isDisconnected })
        return end
    }

    /// A TLS listener of ours that waits for one program.
    final class Listener {
        let reception: TLSReception
        var port: UInt16 { reception.port }

        init(_ settings: TLSSettings = .testServer()) throws {
            reception = try TLSReception(settings.with { $0.handshakeTimeout = .seconds(30) })
        }

        /// Waits until TLS established with the program, or has failed.
        func accepted() throws -> TLSEnd {
            let told = reception.serverSide
            try #require(eventually { told.calls.contains(.secured) || told.isDisconnected })
            return TLSEnd(reception.engine, reception.sockets[0], told)
        }
    }

    /// Waits for a line.
    func line(tag: Int = 1) throws -> String {
        let before = recorder.received.count
        socket.read(ReadRequest(.delimiter([10], limit: 65_536), timeout: .seconds(30), tag: tag))
        try #require(eventually { recorder.received.count > before || recorder.isDisconnected })
        return String(decoding: recorder.received.dropFirst(before), as: UTF8.self)
    }
}
