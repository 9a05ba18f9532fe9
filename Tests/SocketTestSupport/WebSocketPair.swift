import Glibc
import SocketKit

/// A listener and a client of it, on one engine, both with recorders.
package final class WebSocketPair {
    package let engine: SocketEngine
    package let listener: WebSocketListener
    package let client: WebSocket
    package let clientSide: WebSocketRecorder
    package let serverSide: WebSocketRecorder

    /// Opens both ends and waits until they are open.
    package init(
        engine: SocketEngine = SocketEngine(), clientSide: WebSocketRecorder = WebSocketRecorder(),
        serverSide: WebSocketRecorder = WebSocketRecorder(),
        client clientSettings: WebSocketConfiguration = WebSocketConfiguration(),
        server serverSettings: WebSocketConfiguration = WebSocketConfiguration()
    ) throws {
        self.engine = engine
        self.clientSide = clientSide
        self.serverSide = serverSide
        listener = WebSocketListener(engine: engine, delegate: serverSide, configuration: serverSettings)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        client = WebSocket(engine: engine, delegate: clientSide, configuration: clientSettings)
        try client.connect(to: "ws://127.0.0.1:\(listener.localAddress?.port ?? 0)/")
        guard eventually({ client.readyState == .open && serverSide.webSockets.count == 1 }) else {
            throw ChildProcess.Failure(description: "not open: \(clientSide.calls) \(serverSide.calls)")
        }
    }

    /// The server's end.
    package var server: WebSocket { serverSide.webSockets[0] }
}

/// A plain blocking descriptor at the other end of a connection, so that a test says itself which bytes go over it.
package final class RawPeer: Sendable {
    private let descriptor: Int32
    private let isOpen = Lock(true)

    /// Connects to a port of 127.0.0.1.
    package init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard LinuxKernel().connect(descriptor, to: .v4(host: "127.0.0.1", port: port)) == 0 else {
            throw PeerFailure(errno: errno)
        }
    }

    fileprivate init(accepting listener: Int32) throws {
        let accepted = accept(listener, nil, nil)
        guard accepted >= 0 else { throw PeerFailure(errno: errno) }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        descriptor = accepted
    }

    deinit { end() }

    /// Sends all bytes.
    package func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw PeerFailure(errno: errno) }
            sent += count
        }
    }

    /// Sends all of a text.
    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Waits for exactly so many bytes, or fewer where the stream ends before.
    package func receive(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < count {
            let got = recv(descriptor, &buffer, min(buffer.count, count - bytes.count), 0)
            guard got > 0 else { break }
            bytes += buffer[..<got]
        }
        return bytes
    }

    /// Waits for a head of HTTP and takes no byte behind it.
    package func receiveHead() -> String {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]), case let next = receive(1), !next.isEmpty {
            bytes += next
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// All that comes until the stream ends.
    package func receiveAll() -> [UInt8] { receive(.max) }

    /// What has come, without waiting; nil: nothing yet, and no end either.
    package func peek() -> Int? {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK))
        return count < 0 ? nil : count
    }

    /// Sends FIN.
    package func shutWrite() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Closes; with `reset`, by RST.
    package func end(reset: Bool = false) {
        guard isOpen.withLock({ $0 }) else { return }
        isOpen.withLock { $0 = false }
        if reset {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        close(descriptor)
    }

    /// One frame that a client may send: masked, with a key that shows nothing.
    package static func masked(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
        frame(opcode, payload, isFinal: isFinal, mask: [1, 2, 3, 4])
    }

    /// One frame, of at most 65535 bytes.
    package static func frame(
        _ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true, mask: [UInt8] = []
    ) -> [UInt8] {
        let count = payload.count
        let length: [UInt8] =
            count < 126 ? [UInt8(count)] : [126, UInt8(count >> 8), UInt8(truncatingIfNeeded: count)]
        let bit: UInt8 = mask.isEmpty ? 0 : 0x80
        let body = mask.isEmpty ? payload : payload.enumerated().map { $1 ^ mask[$0 % 4] }
        return [opcode | (isFinal ? 0x80 : 0), length[0] | bit] + length.dropFirst() + mask + body
    }
}

/// A listening descriptor on 127.0.0.1 that a test serves by hand.
package final class RawListener {
    private let descriptor: Int32
    package let port: UInt16

    package init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let kernel = LinuxKernel()
        guard kernel.bind(descriptor, to: .v4(host: "127.0.0.1", port: 0)) == 0, listen(descriptor, 16) == 0,
            let port = kernel.localAddress(descriptor)?.port
        else { throw PeerFailure(errno: errno) }
        self.port = port
    }

    deinit { close(descriptor) }

    /// Waits for a connection.
    package func accept() throws -> RawPeer { try RawPeer(accepting: descriptor) }

    /// Waits for a connection and answers its request for a WebSocket; the request is returned too.
    package func acceptWebSocket(adding fields: String = "") throws -> (peer: RawPeer, request: String) {
        let peer = try accept()
        let request = peer.receiveHead()
        try peer.send(Self.answer(to: request, adding: fields))
        return (peer, request)
    }

    /// The answer that opens a WebSocket; `fields` end with CRLF each.
    package static func answer(to request: String, adding fields: String = "") -> String {
        let key = request.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19) ?? ""
        return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(Digests.webSocketAccept(for: String(key)))\r\n\(fields)\r\n"
    }
}
