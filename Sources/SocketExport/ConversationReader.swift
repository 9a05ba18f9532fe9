import SocketCore
import SocketRecords
import SocketWorkshop

extension ExportedConversation {
    /// Reads the selected packets of one session from a capture.
    package struct Reader: Sendable {
        private var reader = CaptureReader()
        private var selection: PacketSelection
        private var packets = CapturedSessions(
            keeping: ExportedConversation.limit, all: 2 * ExportedConversation.limit)

        package init(_ selection: PacketSelection) { self.selection = selection }

        /// Processes the next bytes of the file.
        package mutating func absorb(_ bytes: some Collection<UInt8>) throws(CaptureError) {
            reader.append(bytes)
            while let entry = try reader.next() {
                switch entry {
                case .section:
                    selection.beginSection()
                    packets.beginSection()
                case .interface(let interface):
                    selection.add(interface)
                    packets.add(interface)
                case .packet(let packet): if selection.admits(packet) { packets.absorb(packet) }
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
                if former == 0 {
                    conversation.opened = session.connected ?? session.opened
                    conversation.hasBeginning = !session.beganBefore
                }
                let traffic = session.traffic
                conversation.isCut = conversation.isCut || traffic.dropped > 0
                for item in traffic.items {
                    let side: ExportedConversation.Side = (item.direction == .sent) == localIsClient ? .client : .server
                    var part = Part(side: side, bytes: item.bytes, time: item.time)
                    part.followsGap = item.skipped > 0
                    conversation.lose(item.skipped + UInt64(item.missingBytes), of: side)
                    conversation.parts.append(part)
                }
                conversation.ends += session.ends.map { end in
                    End(
                        side: end.isSent == localIsClient ? .client : .server, isReset: end.isReset, time: end.time,
                        parts: former + Int(end.items))
                }
                for (direction, stream) in [
                    (TrafficItem.Direction.sent, session.fromLocal), (.received, session.fromPeer),
                ] {
                    let told = traffic.items.reduce(0) { $0 + ($1.direction == direction ? $1.skipped : 0) }
                    let side: ExportedConversation.Side = (direction == .sent) == localIsClient ? .client : .server
                    conversation.lose(max(told, stream.missing) - told, of: side)
                }
            }
            return conversation
        }
    }
}
