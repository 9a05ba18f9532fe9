import SocketCore
import SocketRecords

/// The part of a capture to export: the packets of some sessions within a time span.
package struct PacketSelection: Sendable {
    private let flows: Set<Int>
    private let span: ClosedRange<Duration>
    private let start: Int64?
    private var sessions = CapturedSessions(keeping: 0, all: 0)

    /// Selects sessions by their index in `CapturedSessions`. Time is counted from `start`, or else from the first
    /// packet. Packets before `start` count as being at it.
    package init(flows: Set<Int>, span: ClosedRange<Duration>, start: Int64? = nil) {
        (self.flows, self.span, self.start) = (flows, span, start)
    }

    package mutating func beginSection() { sessions.beginSection() }
    package mutating func add(_ interface: CaptureInterface) { sessions.add(interface) }

    /// Whether this packet is selected. Must be called for every packet of the file, in order.
    package mutating func admits(_ packet: CapturedPacket) -> Bool {
        let time = start.map { since($0, packet) } ?? (sessions.time(of: packet.nanoseconds) - MonotonicTime.zero)
        guard let taken = sessions.absorb(packet) else { return false }
        return flows.contains(taken.session) && span.contains(time)
    }

    private func since(_ start: Int64, _ packet: CapturedPacket) -> Duration {
        let (time, overflow) = packet.nanoseconds.subtractingReportingOverflow(start)
        return overflow ? .zero : .nanoseconds(max(0, time))
    }
}

/// Writes the selected packets as pcapng, block by block.
package struct CaptureExport: Sendable {
    private var reader = CaptureReader()
    private var selection: PacketSelection
    private var writer = PcapngWriter()
    /// Whether everything is exported, including fragments, packets that are neither TCP nor UDP, and the state of
    /// sockets.
    private let isWhole: Bool
    private var pending: [CaptureInterface] = []
    /// The number in the new file of each interface that has a packet in it.
    private var numbers: [Int: UInt32] = [:]
    private var hasSection = false
    /// The number of packets written.
    package private(set) var packets: UInt64 = 0

    package init(_ selection: PacketSelection, isWhole: Bool) {
        (self.selection, self.isWhole) = (selection, isWhole)
    }

    /// Returns the blocks written since the last call.
    package mutating func take() -> [UInt8] { writer.take() }

    /// Processes the next bytes of the file.
    package mutating func absorb(_ bytes: some Collection<UInt8>) throws(CaptureError) {
        reader.append(bytes)
        while let entry = try reader.next() {
            switch entry {
            case .section(let application, let comment): begin(application, comment)
            case .interface(let interface):
                if !hasSection { begin("socktui", "") }
                selection.add(interface)
                pending.append(interface)
            case .packet(let packet): if isWhole || selection.admits(packet) { write(packet) }
            // These are of all sessions, and a partial export is often meant for other people.
            case .name(let address, let name): if isWhole { writer.name(name, of: address) }
            case .secrets(let lines): if isWhole { writer.secrets(Array(lines)) }
            case .frames(let frames): if isWhole { writer.frames(Array(frames)) }
            }
        }
    }

    private mutating func begin(_ application: String, _ comment: String) {
        hasSection = true
        (pending, numbers) = ([], [:])
        selection.beginSection()
        writer.section(application: application, comment: comment)
    }

    private mutating func write(_ packet: CapturedPacket) {
        guard pending.indices.contains(packet.interface) else { return }
        let interface = pending[packet.interface]
        let number =
            numbers[packet.interface]
            ?? writer.interface(name: interface.name, description: interface.description, link: interface.link)
        numbers[packet.interface] = number
        packets += 1
        writer.packet(
            Array(packet.bytes), length: packet.length, interface: number,
            nanoseconds: UInt64(max(0, packet.nanoseconds)),
            notes: PacketNotes(isInbound: packet.isInbound, comment: packet.comment, dropped: packet.dropped))
    }
}
