import Dispatch
import SocketKit

/// Listens, and gives each connection to a delegate or a task of its mode.
final class Server: SocketListenerDelegate {
    let engine = SocketEngine()
    private let options: Options
    private let listener: SocketListener
    /// Where connections move to; nil: they do not.
    private let other: SocketEngine?
    private let echo: EchoDelegate
    private let webSocketEcho: WebSocketEcho

    init(_ options: Options) {
        self.options = options
        other = options.moves ? SocketEngine() : nil
        var configuration = SocketConfiguration()
        configuration.options.backlog = 4_096
        configuration.options.noDelay = true
        configuration.options.reusePort = options.engines > 1
        let queue = options.way == .queue ? DispatchQueue(label: "delegates") : nil
        listener = SocketListener(engine: engine, delegateQueue: queue, configuration: configuration)
        echo = EchoDelegate(lends: options.way == .borrowed)
        webSocketEcho = WebSocketEcho(engine: engine, streams: options.mode == .websocketStream)
    }

    /// Listens on loopback; the port, 0 for a path.
    func start() throws(SocketError) -> UInt16 {
        if options.mode == .websocket || options.mode == .websocketStream {
            return try webSocketEcho.start(port: options.port)
        }
        listener.delegate = self
        guard let path = options.path else {
            let identity = options.certificate.map { TLSSettings.Identity(certificateFile: $0, keyFile: options.key) }
            try listener.listen(on: .tcp(host: "127.0.0.1", port: options.port), tls: identity.map { .server($0) })
            return listener.localAddress?.port ?? 0
        }
        try listener.listen(on: .unix(path: path))
        return 0
    }

    func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
        if options.way == .async || options.way == .engine {
            let mode = options.mode
            Task(executorPreference: options.way == .engine ? engine : nil) {
                await Conversations.serve(socket, mode)
            }
            return
        }
        switch options.mode {
        case .echo: if let other { MovingEcho(from: engine, to: other).serve(socket) } else { echo.serve(socket) }
        case .heard: HeardEchoDelegate().serve(socket)
        case .sink: SinkDelegate(options.way).serve(socket)
        case .source: SourceDelegate().serve(socket)
        case .lines: LinesDelegate(options.way).serve(socket)
        case .websocket, .websocketStream: socket.disconnect()
        }
    }
}
