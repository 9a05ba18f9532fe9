import SocketKit

/// The protocols, awaited.
enum Conversations {
    static func serve(_ socket: AsyncSocket, _ mode: Mode) async {
        do {
            switch mode {
            case .echo, .heard: for try await bytes in socket.chunks() { try await socket.send(bytes) }
            case .sink: while true { try await sink(socket) }
            case .source: while true { try await source(socket) }
            case .lines: try await lines(socket)
            case .websocket, .websocketStream: socket.disconnect()
            }
        } catch {
            // The client has gone.
        }
    }

    private static func sink(_ socket: AsyncSocket) async throws(SocketError) {
        let header = try await socket.read(ReadRequest(.length(8)))
        var left = Numbers.number(header)
        while left > 0 {
            left -= try await socket.read(ReadRequest(.length(min(left, Numbers.chunk)))).count
        }
        try await socket.send(header)
    }

    private static func source(_ socket: AsyncSocket) async throws(SocketError) {
        var left = Numbers.number(try await socket.read(ReadRequest(.length(8))))
        while left > 0 {
            let length = min(left, Numbers.chunk)
            try await socket.send(length == Numbers.chunk ? Numbers.pattern : Array(Numbers.pattern[..<length]))
            left -= length
        }
    }

    private static func lines(_ socket: AsyncSocket) async throws(SocketError) {
        var (lines, bytes) = (0, 0)
        for try await line in socket.lines() {
            if line == [0x2E, 13, 10] {
                try await socket.send(Numbers.bytes(lines) + Numbers.bytes(bytes))
                (lines, bytes) = (0, 0)
            } else {
                lines += 1
                bytes += line.count - 2
            }
        }
    }
}
