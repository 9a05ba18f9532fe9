import SocketKit

/// A delegate of datagram sockets that writes down every call, in order.
package final class DatagramRecorder: DatagramSocketDelegate {
    /// One call, without the socket.
    package enum Call: Equatable, Sendable {
        case connected
        case notConnected(SocketError.Reason)
        case sent(tag: Int)
        case notSent(tag: Int, SocketError.Reason)
        case received([UInt8])
        case met(SocketError.Reason)
        case closed(SocketError.Reason?)
    }

    private struct State {
        var calls: [Call] = []
        var datagrams: [Datagram] = []
        var failures: [FailedDatagram] = []
    }

    private let state = Lock(State())
    private let onCall: @Sendable (DatagramSocket, Call) -> Void

    /// Runs the closure inside each callback.
    package init(onCall: @escaping @Sendable (DatagramSocket, Call) -> Void = { _, _ in }) {
        self.onCall = onCall
    }

    /// Every call so far.
    package var calls: [Call] { state.withLock { $0.calls } }
    /// Every datagram received so far.
    package var datagrams: [Datagram] { state.withLock { $0.datagrams } }
    /// Every datagram that was not sent.
    package var failures: [FailedDatagram] { state.withLock { $0.failures } }

    private func note(_ socket: DatagramSocket, _ call: Call) {
        state.withLock { $0.calls.append(call) }
        onCall(socket, call)
    }

    package func datagramSocket(_ socket: DatagramSocket, didConnectTo address: SocketAddress) {
        note(socket, .connected)
    }
    package func datagramSocket(_ socket: DatagramSocket, didNotConnect error: SocketError) {
        note(socket, .notConnected(error.reason))
    }
    package func datagramSocket(_ socket: DatagramSocket, didSendWithTag tag: Int) { note(socket, .sent(tag: tag)) }
    package func datagramSocket(_ socket: DatagramSocket, didNotSend datagram: FailedDatagram) {
        state.withLock { $0.failures.append(datagram) }
        note(socket, .notSent(tag: datagram.tag, datagram.error.reason))
    }
    package func datagramSocket(_ socket: DatagramSocket, didReceive datagram: Datagram) {
        state.withLock { $0.datagrams.append(datagram) }
        note(socket, .received(datagram.bytes))
    }
    package func datagramSocket(_ socket: DatagramSocket, didEncounter error: SocketError) {
        note(socket, .met(error.reason))
    }
    package func datagramSocket(_ socket: DatagramSocket, didClose error: SocketError?) {
        note(socket, .closed(error?.reason))
    }
}

/// A datagram socket of an engine, and what it told.
package final class DatagramEnd {
    package let engine: SocketEngine
    package let socket: DatagramSocket
    package let recorder: DatagramRecorder

    package init(
        engine: SocketEngine = SocketEngine(), configuration: DatagramConfiguration = DatagramConfiguration(),
        recorder: DatagramRecorder = DatagramRecorder()
    ) {
        self.engine = engine
        self.recorder = recorder
        socket = DatagramSocket(engine: engine, delegate: recorder, configuration: configuration)
    }

    /// One that is bound to a free port of loopback and receives all that comes.
    package static func bound(
        _ host: String = "127.0.0.1", engine: SocketEngine = SocketEngine(),
        configuration: DatagramConfiguration = DatagramConfiguration(), isReceiving: Bool = true,
        recorder: DatagramRecorder = DatagramRecorder()
    ) throws -> DatagramEnd {
        let end = DatagramEnd(engine: engine, configuration: configuration, recorder: recorder)
        try end.socket.bind(to: .udp(host: host, port: 0))
        if isReceiving { try end.socket.beginReceiving() }
        return end
    }

    /// Where it is bound.
    package var place: Endpoint {
        socket.localAddress.flatMap(Endpoint.init) ?? .udp(host: "", port: 0)
    }

    /// Payloads received so far.
    package var payloads: [[UInt8]] { recorder.datagrams.map(\.bytes) }

    /// Its session as it is now, the kernel's side included.
    package var picture: SocketSnapshot? { engine.picture(of: socket.session) }
}
