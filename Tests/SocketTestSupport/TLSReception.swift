import SocketKit

/// A listener whose connections are secured, and what they told.
package final class TLSReception {
    package let engine: SocketEngine
    package let serverSide: Recorder
    private let accepting: Recorder
    private let listener: SocketListener

    /// Listens on both loopback addresses; `onAccept` runs in the callback.
    package init(
        _ settings: TLSSettings, engine: SocketEngine = SocketEngine(),
        onAccept: @escaping @Sendable (AsyncSocket) -> Void = { _ in }
    ) throws {
        self.engine = engine
        let serverSide = Recorder()
        self.serverSide = serverSide
        accepting = Recorder(onAccept: { socket in
            socket.delegate = serverSide
            onAccept(socket)
        })
        listener = SocketListener(engine: engine, delegate: accepting)
        try listener.listen(on: .tcp(host: "localhost", port: 0), tls: settings)
    }

    /// The port that the kernel chose.
    package var port: UInt16 { listener.localAddress?.port ?? 0 }

    /// The connections taken so far.
    package var sockets: [AsyncSocket] { accepting.sockets }
}
