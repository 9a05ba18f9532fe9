/// Snapshots as frames of the inspection wire: whole at first and from time to time, and in between what changed.
struct RecordedFrames: Sendable {
    private var former: [SocketID: SocketSnapshot] = [:]
    private var told: [SocketID: ToldTraffic] = [:]
    private var wholeTime: MonotonicTime?
    private var wholeSize = 0
    private var sizeSince = 0
    private let showsPayload: Bool

    /// How old the last whole snapshot may become.
    private static let interval = Duration.seconds(10)
    /// Bytes of traffic that go with one snapshot; of more, only the ends of each message.
    private static let trafficLimit = 1 << 20
    private static let shortEdge = 512
    /// Bytes of one block; a frame may go on in the next one.
    private static let blockSize = 1 << 20
    /// Content of one frame, about.
    private static let chunk = InspectionBoard.chunk

    init(showsPayload: Bool) { self.showsPayload = showsPayload }

    mutating func startOver() {
        (former, told, wholeTime) = ([:], [:], nil)
    }

    /// The frames that tell a snapshot, cut into blocks.
    mutating func blocks(_ snapshot: EngineSnapshot, _ traffic: [SocketID: TrafficSnapshot]) -> [[UInt8]] {
        var writer = WireWriter()
        let isWhole = wholeTime.map { snapshot.time - $0 > Self.interval || sizeSince > 2 * wholeSize } ?? true
        if isWhole {
            former = [:]
            var hello = InspectionHello()
            (hello.engine, hello.program) = (snapshot.engine, "socktui")
            writer.frame(.hello) { hello.encode(to: &$0) }
            writer.frame(.reset) { _ in }
        }
        writeSockets(snapshot, to: &writer)
        var events = InspectionList(values: snapshot.events)
        for start in stride(from: 0, to: snapshot.events.count, by: 1_024) {
            events.values = Array(snapshot.events[start...].prefix(1_024))
            writer.frame(.events) { events.encode(to: &$0) }
        }
        if showsPayload { writeTraffic(traffic, to: &writer) }
        var tick = InspectionTick(snapshot)
        let present = Set(snapshot.sockets.map(\.id))
        tick.removed = former.keys.filter { !present.contains($0) }
        for id in tick.removed { (former[id], told[id]) = (nil, nil) }
        writer.frame(.tick) { tick.encode(to: &$0) }
        let size = writer.bytes.count
        (wholeTime, wholeSize) = isWhole ? (snapshot.time, max(4_096, size)) : (wholeTime, wholeSize)
        sizeSince = isWhole ? 0 : sizeSince + size
        return stride(from: 0, to: size, by: Self.blockSize).map { Array(writer.bytes[$0...].prefix(Self.blockSize)) }
    }

    private mutating func writeSockets(_ snapshot: EngineSnapshot, to writer: inout WireWriter) {
        var changed = snapshot.sockets.filter { former[$0.id] != $0 }[...]
        for socket in changed { former[socket.id] = socket }
        while !changed.isEmpty {
            let start = writer.bytes.count
            writer.frame(.sockets) { writer in
                while let socket = changed.first, writer.bytes.count - start < Self.chunk {
                    var told = socket
                    if !showsPayload { told.hidePayload() }
                    var block = WireWriter()
                    told.encode(to: &block)
                    writer.append(1, encoded: block.bytes)
                    changed.removeFirst()
                }
            }
        }
    }

    private mutating func writeTraffic(_ traffic: [SocketID: TrafficSnapshot], to writer: inout WireWriter) {
        var room = Self.trafficLimit
        for (id, kept) in traffic.sorted(by: { $0.key < $1.key }) {
            var progress = told[id] ?? ToldTraffic()
            var isLast = false
            while !isLast {
                var change = InspectionTraffic()
                (change.socket, change.dropped) = (id, kept.dropped)
                change.first = kept.items.first?.sequence ?? 0
                let wasDropped = progress.dropped
                isLast = progress.takeNews(of: kept, into: &change.items, most: Self.chunk)
                guard !change.items.isEmpty || kept.dropped != wasDropped else { break }
                if room <= 0 {
                    for index in change.items.indices { change.items[index].shrink(to: Self.shortEdge) }
                }
                let before = writer.bytes.count
                writer.frame(.traffic) { change.encode(to: &$0) }
                room -= writer.bytes.count - before
            }
            told[id] = progress
        }
    }
}
