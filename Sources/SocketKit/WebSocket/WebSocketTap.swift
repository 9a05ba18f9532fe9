import SocketCore

/// Looks at what passes on a connection whose bytes a relay passes on, and shows a WebSocket where they are one. It
/// changes, holds and answers nothing, and lives on the engine's queue.
final class WebSocketTap {
    private var observer: WebSocketObserver
    /// What this connection may inflate; its engine has a limit too.
    private var budget: InflationBudget
    /// The first write that is looked at, and bytes of completed ones from there on.
    private let firstWrite: OperationID
    private var completed = 0
    /// Bytes of writes before that one that are still to go out.
    private var unseen: Int
    /// Writes that are a user's, and what passed since it was last shown.
    private var injected: Set<OperationID> = []
    private var seen: [(item: ObservedItem, isInjected: Bool)] = []
    private static let mostInjected = 1_024
    /// Messages of a user that wait for a place between those of others, and how far that is known. `nil`: none waits.
    private var seam: FrameSeam?
    private var waiting: [Injected] = []
    /// Messages and bytes that wait at most.
    private static let mostWaiting = (count: 64, bytes: 1 << 20)

    /// A message of a user, as a frame.
    struct Injected {
        var frame: [UInt8]
        var operation: OperationID
    }

    /// Which end said first that nothing more comes from it.
    private var firstEnd: WebSocketCloseReport.Origin?

    init(_ role: WebSocketRole, on connection: Connection) {
        observer = WebSocketObserver(
            role: role, keepsTraffic: connection.keepsTraffic, now: connection.engine.now,
            accept: { Digests.webSocketAccept(for: $0) })
        budget = .ofConnection(now: connection.engine.now)
        firstWrite = connection.engine.names.nextOperation()
        unseen = connection.machine.writing.unsentBytes
    }

    // MARK: What passes

    /// Bytes came; how many of the first of them are no frames.
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

    /// Marks what of this write is seen as a message.
    func markInjected(_ write: OperationID) {
        if injected.count >= Self.mostInjected { injected = [] }
        injected.insert(write)
    }

    /// The first `count` bytes of these, which `queue` lends, went to the kernel, or to TLS.
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

    /// How many of the first bytes of a completed write are no frames.
    func plainBytes(of write: OperationID, _ count: Int) -> Int {
        if !injected.isEmpty { injected.remove(write) }
        guard write.number > firstWrite.number else { return count }
        defer { completed += count }
        return observer.sentHead.map { min(count, max(0, $0 - completed)) } ?? count
    }

    /// Whether frames pass.
    var isOpen: Bool { observer.isOpen }

    // MARK: What a user sends

    /// What becomes of a message of a user.
    enum Place {
        /// It goes out after all that is queued.
        case now([UInt8])
        /// It waits for the end of a message of others, within which all that is queued ends.
        case later
        /// It cannot go out: a Close did, what passes is not frames, or too many wait.
        case never
    }

    /// Whether messages of a user wait for their place.
    var isInjecting: Bool { seam != nil }

    /// Finds a place for a message of a user, as a frame that is masked as this end's are.
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

    /// The place after all that is queued and has not gone out.
    private func seamAfter(_ queue: borrowing WriteQueue) -> FrameSeam? {
        guard var seam = observer.sentSeam else { return nil }
        var skipped = unseen
        queue.withUnsent(buffers: .max) { buffers in
            for buffer in buffers {
                let head = min(skipped, buffer.count)
                skipped -= head
                seam.takeAll(UnsafeRawBufferPointer(rebasing: buffer.dropFirst(head)))
            }
        }
        return seam
    }

    /// How many of these bytes of others go out before what waits; `nil`: all of them, and it waits on.
    func bytesBeforeInjected(_ bytes: [UInt8]) -> Int? {
        guard var seam else { return nil }
        let count = bytes.withUnsafeBytes { seam.take($0) }
        self.seam = seam
        return seam.isOpen || seam.isOver ? count : nil
    }

    /// Ends the wait: what goes out now, or never if a Close went out.
    func takeInjected() -> (messages: [Injected], canGoOut: Bool) {
        defer { (seam, waiting) = (nil, []) }
        return (waiting, seam?.isOpen ?? false)
    }

    // MARK: Shown

    /// Puts what passed whole among the traffic; once there is nothing to be seen here, it goes.
    func show(on connection: Connection) {
        gather(isInjected: false)
        if !seen.isEmpty {
            if connection.keepsTraffic { log(seen, on: connection) }
            seen.removeAll()
        }
        if observer.isBlind { connection.rare?.taps.webSocket = nil }
    }

    private func log(_ items: [(item: ObservedItem, isInjected: Bool)], on connection: Connection) {
        // A read may bring thousands, of which none but the last would stay.
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

    /// One end said that nothing more comes from it, or is gone.
    func ended(by origin: WebSocketCloseReport.Origin) {
        firstEnd = firstEnd ?? origin
    }

    /// The connection closes.
    func closes(_ error: SocketError?, on connection: Connection) {
        connection.finishInjecting()
        ended(by: error == nil ? .local : .peer)
        observer.end(by: firstEnd ?? .local, now: connection.engine.now)
        show(on: connection)
    }
}

extension Connection {
    /// Begins to look at what passes, in clear under TLS, for a WebSocket; `early` came already.
    func watchForWebSocket(as role: WebSocketRole, after early: [UInt8]) {
        let tap = WebSocketTap(role, on: self)
        madeRare.taps.webSocket = tap
        if !early.isEmpty { _ = tap.received(early, on: self) }
        tap.show(on: self)
        noteChange()
    }

    /// Keeps a read for a person to look at: what of it is no frames as bytes, the frames as what they are.
    func logRead(_ delivery: ReadDelivery, seenBy tap: WebSocketTap) {
        let plain = tap.received(delivery.bytes, on: self)
        if plain > 0 { log(delivery, plain) { delivery.bytes.part($0.clamped(to: 0..<plain)) } }
        tap.show(on: self)
    }
}
