import SocketCore

/// Snapshots as frames of the inspection wire: complete at first and from time to time, and only changes in between.
struct RecordedFrames: Sendable {
    private var changes = RecordedChanges()
    private var wholeTime: MonotonicTime?
    private var wholeSize = 0
    private var sizeSince = 0
    private let showsPayload: Bool

    /// The age at which a new complete snapshot is written.
    private static let interval = Duration.seconds(10)
    /// The most bytes of traffic with one snapshot. Beyond it, only the ends of each message are written.
    private static let trafficLimit = 1 << 20
    private static let shortEdge = 512
    /// The most bytes of one block. A frame can continue in the next one.
    private static let blockSize = 1 << 20
    /// The most removed sockets of one frame. Beyond it, everything is written again.
    private static let removedLimit = 1 << 14
    /// The approximate contents of one frame, in bytes.
    private static let chunk = InspectionBoard.chunk

    init(showsPayload: Bool) { self.showsPayload = showsPayload }

    mutating func startOver() {
        changes.startOver()
        wholeTime = nil
    }

    /// Returns the frames of a snapshot, split into blocks.
    mutating func blocks(_ snapshot: EngineSnapshot, _ traffic: [SocketID: TrafficSnapshot]) -> [[UInt8]] {
        var writer = WireWriter()
        let isWhole =
            changes.isGone(moreThan: Self.removedLimit, from: snapshot)
            || (wholeTime.map { snapshot.time - $0 > Self.interval || sizeSince > 2 * wholeSize } ?? true)
        if isWhole {
            changes.tellAllSockets()
            var hello = InspectionHello()
            (hello.engine, hello.program) = (snapshot.engine, "socktui")
            writer.frame(.hello) { hello.encode(to: &$0) }
            writer.frame(.reset) { _ in }
        }
        writeSockets(snapshot, to: &writer)
        writePeers(changes.peers(of: snapshot), to: &writer)
        for var update in changes.calls(of: snapshot) { writer.frame(.calls) { update.encode(to: &$0) } }
        var events = InspectionList(values: snapshot.events)
        for start in stride(from: 0, to: snapshot.events.count, by: 1_024) {
            events.values = Array(snapshot.events[start...].prefix(1_024))
            writer.frame(.events) { events.encode(to: &$0) }
        }
        if showsPayload { writeTraffic(traffic, to: &writer) }
        var tick = changes.tick(of: snapshot)
        writer.frame(.tick) { tick.encode(to: &$0) }
        let size = writer.bytes.count
        (wholeTime, wholeSize) = isWhole ? (snapshot.time, max(4_096, size)) : (wholeTime, wholeSize)
        sizeSince = isWhole ? 0 : sizeSince + size
        return stride(from: 0, to: size, by: Self.blockSize).map { Array(writer.bytes[$0...].prefix(Self.blockSize)) }
    }

    private mutating func writeSockets(_ snapshot: EngineSnapshot, to writer: inout WireWriter) {
        var changed = changes.sockets(of: snapshot)[...]
        while !changed.isEmpty {
            writeFrame(.sockets, of: &changed, to: &writer) { socket in
                var told = socket
                if !showsPayload { told.hidePayload() }
                return told
            }
        }
    }

    /// Writes all peers, which replace those of earlier updates.
    private func writePeers(_ peers: [InspectionPeer]?, to writer: inout WireWriter) {
        guard var rest = peers?[...] else { return }
        repeat {
            writeFrame(.peers, of: &rest, to: &writer) { $0 }
        } while !rest.isEmpty
    }

    /// Writes one frame of the next values, about `chunk` bytes of them.
    private func writeFrame<Value: WireMessage>(
        _ kind: InspectionFrame.Kind, of rest: inout ArraySlice<Value>, to writer: inout WireWriter,
        _ told: (Value) -> Value
    ) {
        let start = writer.bytes.count
        writer.frame(kind) { writer in
            while let value = rest.first, writer.bytes.count - start < Self.chunk {
                var (told, block) = (told(value), WireWriter())
                told.encode(to: &block)
                writer.append(1, encoded: block.bytes)
                rest.removeFirst()
            }
        }
    }

    private mutating func writeTraffic(_ traffic: [SocketID: TrafficSnapshot], to writer: inout WireWriter) {
        var room = Self.trafficLimit
        for (id, kept) in traffic.sorted(by: { $0.key < $1.key }) {
            while var change = changes.nextTraffic(of: id, kept, most: Self.chunk) {
                if room <= 0 {
                    for index in change.items.indices { change.items[index].shrink(to: Self.shortEdge) }
                }
                let before = writer.bytes.count
                writer.frame(.traffic) { change.encode(to: &$0) }
                room -= writer.bytes.count - before
            }
        }
    }
}
