import SocketCore

/// A call of user code that waits for the end of the turn.
enum Callback {
    case socket(SocketCall)
    case listener(SocketListener, ListenerNotice)
    case datagram(DatagramSocket, DatagramNotice)
    case webSocket(WebSocket, WebSocketNotice)
    case webSocketInbox(WebSocket)
    case webSocketListener(WebSocketListener, WebSocketListenerNotice)
    /// No user code yet: a connection's WebSocket hears of something, or goes on (nil).
    case webSocketStep(Connection, SocketNotice?)
    indirect case answer(EngineSnapshot, @Sendable (EngineSnapshot) -> Void)

    func run() {
        switch self {
        case .socket(let call): call.socket.deliver(call.notice)
        case .listener(let listener, let notice): listener.deliver(notice)
        case .datagram(let socket, let notice): socket.deliver(notice)
        case .webSocket(let webSocket, let notice): webSocket.deliver(notice)
        case .webSocketInbox(let webSocket): webSocket.deliverInbox()
        case .webSocketListener(let listener, let notice): listener.deliver(notice)
        case .webSocketStep(let connection, let notice): connection.stepWebSocket(notice)
        case .answer(let snapshot, let answer): answer(snapshot)
        }
    }
}

/// A call of a stream socket's delegate, or of somebody who awaits it. A struct, since a pair would be copied and
/// destroyed by the runtime's description of it.
struct SocketCall {
    let socket: AsyncSocket
    let notice: SocketNotice
}

/// Callbacks in the order in which the engine decided them.
struct Outbox {
    private var callbacks: [Callback] = []
    private var head = 0
    /// Whether a callback runs right now.
    var isDelivering = false

    var isEmpty: Bool { head == callbacks.count }
    var count: Int { callbacks.count - head }

    mutating func append(_ callback: Callback) {
        callbacks.append(callback)
    }

    /// Takes out what waits for one socket, in its order.
    mutating func take(for socket: AsyncSocket) -> [SocketNotice] {
        var taken: [SocketNotice] = []
        var rest: [Callback] = []
        for callback in callbacks[head...] {
            if case .socket(let call) = callback, call.socket === socket {
                taken.append(call.notice)
            } else {
                rest.append(callback)
            }
        }
        callbacks = rest
        head = 0
        return taken
    }

    mutating func popFirst() -> Callback? {
        guard head < callbacks.count else { return nil }
        // The one that is left, mostly, leaves without a copy.
        if head + 1 == callbacks.count, head == 0 { return callbacks.popLast() }
        let callback = callbacks[head]
        head += 1
        if head == callbacks.count {
            callbacks.removeAll(keepingCapacity: callbacks.capacity <= 1_024)
            head = 0
        }
        return callback
    }
}
