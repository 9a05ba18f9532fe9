import SocketCore

/// A call of user code that waits for the end of the turn. It is moved, never copied.
enum Callback: ~Copyable {
    case socket(SocketCall)
    /// An operation for a session that is over.
    case missed(AsyncSocket, SocketNotice)
    case listener(SocketListener, ListenerNotice)
    case datagram(DatagramSocket, DatagramNotice)
    /// With the session that it belongs to.
    case webSocket(WebSocket, SocketID, WebSocketNotice)
    case webSocketInbox(WebSocket)
    case webSocketListener(WebSocketListener, WebSocketListenerNotice)
    /// No user code yet: a connection's WebSocket hears of something, or goes on (nil).
    case webSocketStep(Connection, SocketNotice?)
    /// No user code: the callbacks before it are made, for which this connection waits.
    case delivered(Connection)
    /// Big or rare: whatever it is, it knows itself.
    case other(() -> Void)

    @inline(__always)
    consuming func run(in engine: EngineState) {
        switch consume self {
        case .socket(let call):
            call.connection { $0.deliver(call.notice) }
            call.giveBack(to: engine)
        case .missed(let socket, let notice): _ = socket.deliver(notice)
        case .listener(let listener, let notice):
            if listener.deliver(notice), let id = listener.session { engine.acceptor(id)?.holdBack(true) }
        case .datagram(let socket, let notice): socket.deliver(notice)
        case .webSocket(let webSocket, let session, let notice): webSocket.deliver(notice, of: session)
        case .webSocketInbox(let webSocket): webSocket.deliverInbox()
        case .webSocketListener(let listener, let notice):
            if listener.deliver(notice), let id = listener.session { engine.acceptor(id)?.holdBack(true) }
        case .webSocketStep(let connection, let notice): connection.stepWebSocket(notice)
        case .delivered(let connection): connection.wasDelivered()
        case .other(let call): call()
        }
    }

    /// What it tells this socket; nil: it is about something else.
    borrowing func notice(for socket: AsyncSocket) -> SocketNotice? {
        switch self {
        case .socket(let call): call.connection { $0.holds(socket) } ? call.notice : nil
        case .missed(let missed, let notice): missed === socket ? notice : nil
        case .listener: nil
        case .datagram: nil
        case .webSocket: nil
        case .webSocketInbox: nil
        case .webSocketListener: nil
        case .webSocketStep: nil
        case .delivered: nil
        case .other: nil
        }
    }
}

/// A call of a stream socket's delegate, or of somebody who awaits it. A struct, since a pair would be copied and
/// destroyed by the runtime's description of it.
struct SocketCall {
    /// It holds its handle.
    let connection: BorrowedReference<Connection>
    var notice: SocketNotice

    /// The bytes of a read that was delivered, if nobody keeps them.
    @inline(__always)
    consuming func giveBack(to engine: EngineState) {
        // Moved out, or the copy would be a second holder.
        var taken = SocketNotice.closedReadStream
        swap(&taken, &notice)
        if case .read(_, _, let bytes, _) = consume taken { engine.shorts.keep(bytes) }
    }
}

/// Callbacks in the order in which the engine decided them: a ring, which they enter and leave without a copy.
struct Outbox: ~Copyable {
    private static let leastCapacity = 16
    /// A burst beyond this gives its memory back.
    private static let keptCapacity = 1_024

    private var slots = UnsafeMutableBufferPointer<Callback>.allocate(capacity: leastCapacity)
    private var head = 0
    private(set) var count = 0
    /// Whether a callback runs right now.
    var isDelivering = false

    init() {}

    deinit {
        for index in 0..<count { slots.deinitializeElement(at: (head + index) & (slots.count - 1)) }
        slots.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ callback: consuming Callback) {
        if count == slots.count { move(toCapacity: slots.count * 2) }
        slots.initializeElement(at: (head &+ count) & (slots.count &- 1), to: callback)
        count += 1
    }

    mutating func popFirst() -> Callback? {
        guard count > 0 else { return nil }
        let first = slots.moveElement(from: head)
        head = (head &+ 1) & (slots.count &- 1)
        count -= 1
        if count == 0, slots.count > Self.keptCapacity { move(toCapacity: Self.leastCapacity) }
        return first
    }

    /// Takes out what waits for one socket, in its order.
    mutating func take(for socket: AsyncSocket) -> [SocketNotice] {
        var taken: [SocketNotice] = []
        for _ in 0..<count {
            guard let callback = popFirst() else { break }
            if let notice = callback.notice(for: socket) { taken.append(notice) } else { append(callback) }
        }
        return taken
    }

    private mutating func move(toCapacity capacity: Int) {
        let larger = UnsafeMutableBufferPointer<Callback>.allocate(capacity: capacity)
        for index in 0..<count {
            larger.initializeElement(at: index, to: slots.moveElement(from: (head + index) & (slots.count - 1)))
        }
        slots.deallocate()
        slots = larger
        head = 0
    }
}
