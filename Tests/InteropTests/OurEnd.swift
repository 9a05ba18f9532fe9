import SocketKit
import SocketTestSupport
import Testing

/// Our end of a connection to another program, and what it told.
final class OurEnd {
    let engine: SocketEngine
    let socket: AsyncSocket
    let recorder: Recorder

    private init(_ engine: SocketEngine, _ socket: AsyncSocket, _ recorder: Recorder) {
        self.engine = engine
        self.socket = socket
        self.recorder = recorder
    }

    /// Connects, and waits until that is done.
    static func connected(to endpoint: Endpoint, halfOpen: Bool = false) throws -> OurEnd {
        let end = OurEnd(SocketEngine(), halfOpen: halfOpen)
        try end.socket.connect(to: endpoint, timeout: .seconds(10))
        try #require(eventually { end.recorder.calls.first != nil })
        try #require(end.recorder.calls == [.connected])
        return end
    }

    private convenience init(_ engine: SocketEngine, halfOpen: Bool) {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = halfOpen
        let recorder = Recorder()
        self.init(engine, AsyncSocket(engine: engine, delegate: recorder, configuration: configuration), recorder)
    }

    /// A listener of ours that waits for one program.
    final class Listener {
        let listener: SocketListener
        private let engine = SocketEngine()
        private let accepting: Recorder
        private let child = Recorder()

        init(on endpoint: Endpoint, halfOpen: Bool = false) throws {
            var configuration = SocketConfiguration()
            configuration.allowsHalfOpen = halfOpen
            accepting = Recorder(onAccept: { [child] in $0.delegate = child })
            listener = SocketListener(engine: engine, delegate: accepting, configuration: configuration)
            try listener.listen(on: endpoint)
        }

        /// The port that the kernel chose.
        var port: UInt16 { listener.localAddress?.port ?? 0 }

        /// Waits for the program to connect.
        func accepted() throws -> OurEnd {
            try #require(eventually { accepting.sockets.count == 1 })
            return OurEnd(engine, accepting.sockets[0], child)
        }
    }

    /// Sends all bytes that there are, 16 KiB of them, and expects the same from the peer: nothing on the way may read
    /// a meaning into any of them.
    func exchangesEveryByteValue(with peer: Peer) throws {
        let bytes = (0..<64).flatMap { round in (0...255).map { UInt8(truncatingIfNeeded: $0 + round) } }
        socket.read(ReadRequest(.length(bytes.count), tag: 1))
        socket.write(bytes, tag: 2)
        try peer.write(bytes)
        #expect(eventually { recorder.received.count == bytes.count })
        #expect(recorder.received == bytes)
        #expect(eventually { peer.output.count == bytes.count })
        #expect(peer.output == bytes)
        #expect(recorder.calls.contains(.wrote(tag: 2)))
    }
}
