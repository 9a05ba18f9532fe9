import SocketCore

/// Observes the forwarded bytes of a relayed connection, and shows a WebSocket if they are one. It changes, holds and
/// answers nothing, and lives on the engine's queue.
final class WebSocketTap {
    private var observer: WebSocketObserver
    /// The inflation budget of this connection. Its engine has a limit too.
    private var budget: InflationBudget
    /// The first observed write, and the bytes of completed writes since then.
    private let firstWrite: OperationID
    private var completed = 0
    /// The unsent bytes of earlier writes.
    private var unseen: Int
    /// The writes injected by the user, and the items seen since they were last shown.
    private var injected: Set<OperationID> = []
    private var seen: [(item: ObservedItem, isInjected: Bool)] = []
    private static let mostInjected = 1_024
    /// The user's messages that wait for a place between forwarded ones, and the boundary tracking for that place, or
    /// `nil` if none waits.
    private var seam: FrameSeam?
    private var waiting: [Injected] = []
    /// The most messages and bytes that can wait.
    private static let mostWaiting = (count: 64, bytes: 1 << 20)

    /// A user's message, as a frame.
    struct Injected {
        var frame: [UInt8]
        var operation: OperationID
    }

    /// The end that ended its stream first.
    private var firstEnd: WebSocketCloseReport.Origin?

    init(_ role: WebSocketRole, on connection: Connection) {
        observer = WebSocketObserver(
            role: role, keepsTraffic: connection.keepsTraffic, now: connection.engine.now,
            accept: { Digests.webSocketAccept(for: $0) })
        budget = .ofConnection(now: connection.engine.now)
        firstWrite = connection.engine.names.nextOperation()
        unseen = connection.machine.writing.unsentBytes
    }

    // MARK: Traffic

    /// Observes received bytes. Returns how many of the first ones are not frames.
    func received(_ bytes: [UInt8], on connection: Connection) -> Int {
        bytes.withUnsafeBytes { see($0, isSent: false, in: connection.engine) }
    }

    private func see(_ bytes: UnsafeRawBufferPointer, isSent: Bool, in engine: EngineState) -> Int {
        let allowed = min(budget.left(now: engine.now), engine.inflation.left(now: engine.now))
        var left = allowed
        defer {
            budget.spend(allowed - left)
            engine.inflation.spend(allowed - left)
        }
        return observer.see(bytes, isSent: isSent, now: engine.now, allowance: &left)
    }

    /// Marks what is seen of this write as an injected message.
    func markInjected(_ write: OperationID) {
        if injected.count >= Self.mostInjected { injected = [] }
        injected.insert(write)
    }

    /// Observes the first `count` bytes of these, which `queue` lends and the kernel or TLS accepted.
    func sent(
        _ buffers: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ count: Int, of queue: borrowing WriteQueue,
        in engine: EngineState
    ) {
        let writes = injected.isEmpty ? [] : queue.unsentOperations(most: buffers.count)
        var left = count
        for (index, buffer) in buffers.enumerated() where left > 0 {
            let part = buffer.prefix(left)
            left -= part.count
            let skipped = min(unseen, part.count)
            unseen -= skipped
            guard skipped < part.count else { continue }
            let isInjected = writes.indices.contains(index) && injected.contains(writes[index])
            if isInjected { gather(isInjected: false) }
            _ = see(UnsafeRawBufferPointer(rebasing: part.dropFirst(skipped)), isSent: true, in: engine)
            if isInjected { gather(isInjected: true) }
        }
    }

    private func gather(isInjected: Bool) {
        for item in observer.takeItems() { seen.append((item, isInjected)) }
    }

    /// Returns how many of the first bytes of a completed write are not frames.
    func plainBytes(of write: OperationID, _ count: Int) -> Int {
        if !injected.isEmpty { injected.remove(write) }
        guard write.number > firstWrite.number else { return count }
        defer { completed += count }
        return observer.sentHead.map { min(count, max(0, $0 - completed)) } ?? count
    }

    /// Whether the bytes are WebSocket frames.
    var isOpen: Bool { observer.isOpen }

    // MARK: Injected messages

    /// The place of a user's message.
    enum Place {
        /// It is sent after everything that is queued.
        case now([UInt8])
        /// It waits for the end of a forwarded message that the queued bytes leave unfinished.
        case later
        /// It can't be sent: a Close was sent, the bytes are not frames, or too many messages wait.
        case never
    }

    /// Whether messages of the user wait for their place.
    var isInjecting: Bool { seam != nil }

    /// Finds a place for a user's message, whose frame is masked as this end's frames are.
    func place(_ message: WebSocketMessage, as operation: OperationID, after queue: borrowing WriteQueue) -> Place {
        guard let seam = seam ?? seamAfter(queue), !seam.isOver else { return .never }
        let frame = message.frame(maskKey: observer.role == .client ? .random(in: 0...(.max)) : nil)
        if seam.isOpen { return .now(frame) }
        let bytes = waiting.reduce(frame.count) { $0 + $1.frame.count }
        guard waiting.count < Self.mostWaiting.count, bytes <= Self.mostWaiting.bytes else { return .never }
        self.seam = seam
        waiting.append(Injected(frame: frame, operation: operation))
        return .later
    }

    /// Returns the boundary after everything that is queued and unsent.
    private func seamAfter(_ queue: borrowing WriteQueue) -> FrameSeam? {
        guard var seam = observer.sentSeam else { return nil }
        var skipped = unseen
        queue.withUnsent(buffers: .max) { buffers in
            for buffer in buffers {
                let head = min(skipped, buffer.count)
                skipped -= head
                seam.absorbAll(UnsafeRawBufferPointer(rebasing: buffer.dropFirst(head)))
            }
        }
        return seam
    }

    /// Returns how many of these forwarded bytes are sent before the waiting messages, or `nil` if all are and the
    /// messages keep waiting.
    func bytesBeforeInjected(_ bytes: [UInt8]) -> Int? {
        guard var seam else { return nil }
        let count = bytes.withUnsafeBytes { seam.absorb($0) }
        self.seam = seam
        return seam.isOpen || seam.isOver ? count : nil
    }

    /// Ends the wait. Returns the messages, and whether they can be sent now or, after a Close, never.
    func takeInjected() -> (messages: [Injected], canGoOut: Bool) {
        defer { (seam, waiting) = (nil, []) }
        return (waiting, seam?.isOpen ?? false)
    }

    // MARK: Display

    /// Records the completely observed items as traffic. Removes the tap once it can observe no more.
    func show(on connection: Connection) {
        gather(isInjected: false)
        if !seen.isEmpty {
            if connection.keepsTraffic { log(seen, on: connection) }
            seen.removeAll()
        }
        if observer.isBlind { connection.rare?.taps.webSocket = nil }
    }

    private func log(_ items: [(item: ObservedItem, isInjected: Bool)], on connection: Connection) {
        // A read can contain thousands, all but the last of which would be dropped.
        let most = connection.traffic?.maximumItems ?? 0
        connection.traffic?.passOver(max(0, items.count - most))
        for (item, isInjected) in items.suffix(most) {
            let operation = connection.engine.names.nextOperation()
            if isInjected { connection.traffic?.markInjected(operation) }
            connection.traffic?.record(
                operation, direction: item.isSent ? .sent : .received, tag: 0,
                kind: item.isSent ? .write : .read(.available(limit: nil)), done: item.length, total: item.length,
                state: .complete(after: .zero), now: connection.engine.now, webSocket: item.traffic
            ) { item.bytes.part($0) }
        }
    }

    var picture: WebSocketPicture? { observer.picture() }

    // MARK: The end

    /// Records that one end ended its stream or is gone.
    func ended(by origin: WebSocketCloseReport.Origin) {
        firstEnd = firstEnd ?? origin
    }

    /// Handles the closing of the connection.
    func closes(_ error: SocketError?, on connection: Connection) {
        connection.finishInjecting()
        ended(by: error == nil ? .local : .peer)
        observer.end(by: firstEnd ?? .local, now: connection.engine.now)
        show(on: connection)
    }
}

extension Connection {
    /// Begins to observe a connection's plaintext for a WebSocket. `early` was already received.
    func watchForWebSocket(as role: WebSocketRole, after early: [UInt8]) {
        let tap = WebSocketTap(role, on: self)
        madeRare.taps.webSocket = tap
        if !early.isEmpty { _ = tap.received(early, on: self) }
        tap.show(on: self)
        noteChange()
    }

    /// Records a read as traffic: the part that is not frames as bytes, and the frames as such.
    func logRead(_ delivery: ReadDelivery, seenBy tap: WebSocketTap) {
        let plain = tap.received(delivery.bytes, on: self)
        if plain > 0 { log(delivery, plain) { delivery.bytes.part($0.clamped(to: 0..<plain)) } }
        tap.show(on: self)
    }
}
