import SocketCore

/// A call of user code that waits for the end of the turn. It is moved, never copied.
enum Callback: ~Copyable {
    case socket(SocketCall)
    /// The end of an operation whose session has ended.
    case missed(AsyncSocket, SocketNotice)
    case listener(SocketListener, ListenerNotice)
    case datagram(DatagramSocket, DatagramNotice)
    /// A notice, with the session that it belongs to.
    case webSocket(WebSocket, SocketID, WebSocketNotice)
    case webSocketInbox(WebSocket)
    case webSocketListener(WebSocketListener, WebSocketListenerNotice)
    /// Not user code: a notice for a connection's WebSocket, or `nil` for its next step.
    case webSocketStep(Connection, SocketNotice?)
    /// Not user code: the callbacks before this one have run, and the connection waits for that.
    case delivered(Connection)
    /// A part of a task that runs on the engine.
    case task(UnownedJob, SocketEngine)
    /// A large or rare call.
    case other(() -> Void)

    @inline(__always)
    consuming func run(in engine: EngineState) {
        switch consume self {
        case .socket(let call):
            call.connection { $0.deliver(call.notice) }
            call.giveBack(to: engine)
        case .missed(let socket, let notice): _ = socket.deliver(notice, of: nil)
        case .listener(let listener, let notice):
            if listener.deliver(notice), let id = listener.session { engine.acceptor(id)?.holdBack(true) }
        case .datagram(let socket, let notice): socket.deliver(notice)
        case .webSocket(let webSocket, let session, let notice): webSocket.deliver(notice, of: session)
        case .webSocketInbox(let webSocket): webSocket.deliverInbox()
        case .webSocketListener(let listener, let notice):
            if listener.deliver(notice), let id = listener.session { engine.acceptor(id)?.holdBack(true) }
        case .webSocketStep(let connection, let notice): connection.stepWebSocket(notice)
        case .delivered(let connection): connection.wasDelivered()
        case .task(let job, let executor): job.runSynchronously(on: executor.asUnownedTaskExecutor())
        case .other(let call): call()
        }
    }

    /// Returns the notice for this socket, or `nil` if the callback is not about it.
    borrowing func notice(for socket: AsyncSocket) -> SocketNotice? {
        switch self {
        case .socket(let call): call.connection { $0.retains(socket) } ? call.notice : nil
        case .missed(let missed, let notice): missed === socket ? notice : nil
        case .listener: nil
        case .datagram: nil
        case .webSocket: nil
        case .webSocketInbox: nil
        case .webSocketListener: nil
        case .webSocketStep: nil
        case .delivered: nil
        case .task: nil
        case .other: nil
        }
    }
}

/// A call of a stream socket's delegate, or of the task that awaits it. A struct, because the runtime would copy and
/// destroy a tuple by its metadata.
struct SocketCall {
    /// The connection, which retains its handle.
    let connection: BorrowedReference<Connection>
    var notice: SocketNotice

    /// Returns the bytes of a delivered read for reuse, if nothing else retains them.
    @inline(__always)
    consuming func giveBack(to engine: EngineState) {
        // Moved out, or the copy would be a second reference.
        var taken = SocketNotice.closedReadStream
        swap(&taken, &notice)
        if case .read(_, _, let bytes, _) = consume taken { engine.shorts.keep(bytes) }
    }
}

/// Callbacks in the order in which the engine decided them.
struct Outbox: ~Copyable {
    private var callbacks = MoveQueue<Callback>()
    /// Whether a callback is running.
    var isDelivering = false

    var count: Int { callbacks.count }
    var isEmpty: Bool { callbacks.isEmpty }

    mutating func append(_ callback: consuming Callback) { callbacks.append(callback) }

    mutating func popFirst() -> Callback? { callbacks.popFirst() }

    /// Removes the notices for one socket and returns them, in order.
    mutating func take(for socket: AsyncSocket) -> [SocketNotice] {
        var taken: [SocketNotice] = []
        for _ in 0..<count {
            guard let callback = popFirst() else { break }
            if let notice = callback.notice(for: socket) { taken.append(notice) } else { append(callback) }
        }
        return taken
    }
}
