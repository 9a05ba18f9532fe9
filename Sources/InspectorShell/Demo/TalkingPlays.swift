import SocketKit

/// An echo server, and two clients that exchange lines with it.
package final class EchoPlay: Demo.Play {
    private let engine: SocketEngine
    private let server: Player
    private let client: Player
    private let stage: Stage

    package init(_ engine: SocketEngine) throws(SocketError) {
        self.engine = engine
        server = Player(
            onOpen: { $0.read(ReadRequest(.available(limit: nil), isStanding: true)) },
            onRead: { socket, bytes in socket.write(bytes) })
        client = Player(onOpen: { $0.read(ReadRequest(.delimiter([13, 10], limit: 1_024), tag: 1, isStanding: true)) })
        stage = try Stage(engine, server, name: Demo.echoName)
    }

    package func tick(_ count: Int) {
        if count == 0 { for name in ["alice", "bob"] { client.connect(engine, to: stage.port, name: name) } }
        guard count % 7 == 3 else { return }
        for socket in client.sockets where socket.isConnected {
            socket.write(Array("\(socket.configuration.name) says \(count)\r\n".utf8), tag: count)
        }
    }
}

/// A slow peer: a length read of 4 KiB fills 64 bytes at a time, and a line arrives in pieces.
package final class DripPlay: Demo.Play {
    private let engine: SocketEngine
    private let server: Player
    private let lengths: Player
    private let lines: Player
    private let stage: Stage

    package init(_ engine: SocketEngine) throws(SocketError) {
        self.engine = engine
        server = Player()
        lengths = Player(onOpen: Self.readBlock, onRead: { socket, _ in Self.readBlock(socket) })
        lines = Player(onOpen: Self.readLine, onRead: { socket, _ in Self.readLine(socket) })
        stage = try Stage(engine, server, name: "drip")
    }

    private static func readBlock(_ socket: AsyncSocket) {
        socket.read(ReadRequest(.length(4_096), timeout: .seconds(30), tag: 42))
    }

    private static func readLine(_ socket: AsyncSocket) {
        socket.read(ReadRequest(.delimiter([13, 10], limit: 8_192), tag: 43))
    }

    package func tick(_ count: Int) {
        if count == 0 {
            lengths.connect(engine, to: stage.port, name: "block reader")
            lines.connect(engine, to: stage.port, name: "line reader")
        }
        // Both ends get the same text: bytes that fill the bar, and occasionally the end of a line.
        let text = count % 40 == 39 ? "end of line \(count)\r\n" : "tick \(count) "
        let bytes = Array(text.utf8) + [UInt8](repeating: 46, count: 64)
        for socket in server.sockets { socket.write(Array(bytes.prefix(64))) }
    }
}

/// A writer with small buffers whose reader stalls and resumes, so that the write queue grows and drains.
package final class StallPlay: Demo.Play {
    private static let chunk = [UInt8](repeating: 35, count: 65_536)
    /// The number of bytes in the write queue at which the writer stops adding to it.
    private static let limit = 1_500_000

    private let engine: SocketEngine
    private let reader: Player
    private let writer: Player
    private let stage: Stage

    package init(_ engine: SocketEngine) throws(SocketError) {
        self.engine = engine
        var small = SocketOptions()
        small.sendBuffer = 16_384
        small.receiveBuffer = 16_384
        reader = Player(onOpen: { $0.read(ReadRequest(.available(limit: 8_192), isStanding: true)) })
        writer = Player()
        stage = try Stage(engine, reader, name: "slow reader", options: small)
    }

    package func tick(_ count: Int) {
        var small = SocketOptions()
        small.sendBuffer = 16_384
        if count == 0 { writer.connect(engine, to: stage.port, name: "writer", options: small) }
        switch count % 120 {
        case 10: for socket in reader.sockets { socket.isReadingPaused = true }
        case 70: for socket in reader.sockets { socket.isReadingPaused = false }
        default: break
        }
        guard count % 3 == 0 else { return }
        for socket in writer.sockets where socket.pendingWriteBytes < Self.limit {
            socket.write(Self.chunk, tag: count / 3)
        }
    }
}
