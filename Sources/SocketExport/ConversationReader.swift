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
