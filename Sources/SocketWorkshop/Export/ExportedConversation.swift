import SocketCore
import SocketRecords

/// The reassembled traffic between the client and the server of one session.
package struct ExportedConversation: Sendable {
    package enum Side: String, CaseIterable, Sendable { case client, server }

    /// One read or write, or the bytes that a packet added.
    package struct Part: Equatable, Sendable {
        package var side: Side
        package var bytes: [UInt8]
        /// The time since the first packet.
        package var time: MonotonicTime

        package init(side: Side, bytes: [UInt8], time: MonotonicTime = .zero) {
            (self.side, self.bytes, self.time) = (side, bytes, time)
        }
    }

    /// FIN or RST of one side.
    package struct End: Hashable, Sendable {
        package var side: Side
        package var isReset: Bool
        package var time: MonotonicTime
        /// The number of parts before it.
        package var parts: Int

        package init(side: Side, isReset: Bool = false, time: MonotonicTime = .zero, parts: Int) {
            (self.side, self.isReset, self.time, self.parts) = (side, isReset, time, parts)
        }
    }

    package private(set) var parts: [Part] = []
    package private(set) var ends: [End] = []
    /// When it began.
    package private(set) var opened = MonotonicTime.zero
    /// The number of bytes that the file lacks.
    package private(set) var missing: UInt64 = 0
    /// Whether the session had more traffic than is kept here.
    package private(set) var isCut = false

    /// The most bytes that are kept of one session.
    package static let limit = 256 << 20

    package init(_ parts: [Part], ends: [End] = []) { (self.parts, self.ends) = (parts, ends) }

    /// Returns the bytes that one side sent.
    package func bytes(of side: Side) -> [UInt8] { parts.filter { $0.side == side }.flatMap(\.bytes) }

    /// Reads the selected packets of one session from a capture.
    package struct Reader: Sendable {
        private var reader = CaptureReader()
        private var selection: PacketSelection
        private var packets = CapturedSessions(
            keeping: ExportedConversation.limit, all: 2 * ExportedConversation.limit)

        package init(_ selection: PacketSelection) { self.selection = selection }

        /// Processes the next bytes of the file.
        package mutating func take(_ bytes: some Collection<UInt8>) throws(CaptureError) {
            reader.append(bytes)
            while let entry = try reader.next() {
                switch entry {
                case .section:
                    selection.beginSection()
                    packets.beginSection()
                case .interface(let interface):
                    selection.add(interface)
                    packets.add(interface)
                case .packet(let packet): if selection.admits(packet) { packets.take(packet) }
                case .name, .frames, .secrets: break
                }
            }
        }

        /// Returns the conversation once the file has ended.
        package mutating func finish(_ row: ExportRow) -> ExportedConversation {
            packets.finish()
            var conversation = ExportedConversation([])
            for session in packets.sessions {
                let localIsClient = session.local == row.client
                let former = conversation.parts.count
                if former == 0 { conversation.opened = session.connected ?? session.opened }
                let traffic = session.traffic
                conversation.isCut = conversation.isCut || traffic.dropped > 0
                for item in traffic.items {
                    let isClients = (item.direction == .sent) == localIsClient
                    conversation.missing += item.skipped + UInt64(item.missingBytes)
                    conversation.parts.append(
                        Part(side: isClients ? .client : .server, bytes: item.bytes, time: item.time))
                }
                conversation.ends += session.ends.map { end in
                    End(
                        side: end.isSent == localIsClient ? .client : .server, isReset: end.isReset, time: end.time,
                        parts: former + Int(end.items))
                }
                let known = traffic.items.reduce(0) { $0 + $1.skipped }
                conversation.missing += max(known, session.fromLocal.missing + session.fromPeer.missing) - known
            }
            return conversation
        }
    }
}
