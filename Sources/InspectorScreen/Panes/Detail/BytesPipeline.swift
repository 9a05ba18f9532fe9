import InspectorCore
import SocketCore

/// Where the bytes are: in our write queue, in the kernel's send queue, in flight, or unread by the program at the
/// other end. In the other direction, what arrived but was not read here.
package struct BytesPipeline {
    let socket: SocketSnapshot
    /// The other end, if it is on this host.
    let end: PeerEnd?
    let model: Model

    /// What is left out for lack of room, in order. Amounts and the program's name are kept the longest.
    private enum Saving: Int, CaseIterable, Comparable {
        /// Unknown unread bytes, and an empty queue of ours.
        case unknown, noQueue
        /// The bytes in flight, which are then included in the send queue.
        case inFlight
        /// `here` replaces `not read here`.
        case shortHere
        case full
        /// `125K in python3[77]` replaces the longer words for unread bytes.
        case unread
        /// The names, so that only the amounts of our queue and of the send queue are left.
        case names

        static func < (one: Saving, other: Saving) -> Bool { one.rawValue < other.rawValue }
    }

    init(_ model: Model, _ socket: SocketSnapshot) {
        self.model = model
        self.socket = socket
        end = model.shared.peers[socket.id]
    }

    /// The stages on the way to the other program, in order, with an arrow before each except the first.
    var stages: [Line] { stages(saving: nil) }

    /// The bytes that arrived and were not read.
    var incoming: Line { incoming(saving: nil) }

    /// Returns both directions fitted to `room` columns.
    func fitted(to room: Int) -> (outgoing: Line, incoming: Line) {
        var outgoing = Line()
        var incoming = Line()
        for saving in [nil] + Saving.allCases {
            (outgoing, incoming) = (joined(stages(saving: saving)), self.incoming(saving: saving))
            if outgoing.width + (incoming.width > 0 ? incoming.width + 2 : 0) <= room { break }
        }
        return (outgoing, incoming)
    }

    private func joined(_ stages: [Line]) -> Line {
        var line = Line()
        for stage in stages {
            if line.width > 0 { line.append(" ") }
            line.append(stage)
        }
        return line
    }

    private func stages(saving: Saving?) -> [Line] {
        func gives(_ way: Saving) -> Bool { saving.map { $0 >= way } ?? false }
        var stages: [Line] = []
        func add(_ stage: Line) {
            var arrow = Line(stages.isEmpty ? "" : "> ")
            arrow.append(stage)
            stages.append(arrow)
        }
        func amount(_ name: String, _ count: Int?) -> Line {
            let amount = count.map { Format.bytes($0) } ?? "-"
            return Line(gives(.names) ? amount : "\(name) \(amount)", Style(.sent))
        }
        let pending = socket.writing.pendingBytes
        if pending > 0 || !gives(.noQueue) { add(amount("queued", pending)) }
        let kernel = socket.kernel
        var sending = amount("sndq", gives(.inFlight) ? kernel?.sendQueue : kernel?.notSent ?? kernel?.sendQueue)
        if isFull, !gives(.full) { sending.append(" (full)", Style(.warn)) }
        add(isFull && gives(.full) ? sending.restyled { _ in Style(.warn) } : sending)
        if let all = kernel?.sendQueue, let waiting = kernel?.notSent, all > waiting, !gives(.inFlight) {
            add(amount("in flight", all - max(0, waiting)))
        }
        if kernel != nil, end != nil || !gives(.unknown) { add(atPeer(isShort: gives(.unread) && end?.program != nil)) }
        return stages
    }

    private var isFull: Bool {
        socket.phase == .connected && !socket.isWriteShut && !socket.flags.contains(.socketCanAcceptBytes)
    }

    /// Returns the unread bytes at the other end, and the program's name.
    private func atPeer(isShort: Bool) -> Line {
        let unread = end?.unread
        var line = Line(
            (isShort ? "" : "unread ") + (unread.map { Format.bytes($0) } ?? "-"),
            Style(unread ?? 0 > 0 ? .warn : .sent))
        guard let program = end?.program else { return line }
        line.append(" in ")
        model.sanitizer.append(program.title, Style(.dim), to: &line)
        return line
    }

    private func incoming(saving: Saving?) -> Line {
        let isShort = saving.map { $0 >= .shortHere } ?? false
        var line = Line()
        if let unread = socket.kernel?.receiveQueue, unread > 0 {
            let role: Role = socket.reading.current == nil ? .warn : .received
            line.append(isShort ? "\(Format.bytes(unread)) here" : "\(Format.size(unread)) not read here", Style(role))
        }
        if socket.prebuffered > 0 {
            if line.width > 0 { line.append(", ") }
            line.append(
                isShort ? "\(Format.bytes(socket.prebuffered)) ahead" : "\(Format.size(socket.prebuffered)) read ahead",
                Style(.received))
        }
        return line
    }
}
