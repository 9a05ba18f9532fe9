/// The packets of some sessions within some time: what an export takes of a capture.
package struct PacketSelection: Sendable {
    private let flows: Set<Int>
    private let span: ClosedRange<Duration>
    private let start: Int64?
    private var sessions = CapturedSessions(keeping: 0, all: 0)

    /// The sessions by their index in `CapturedSessions`; the time from `start` on, or from the first packet. What was before
    /// `start` counts as being there.
    package init(flows: Set<Int>, span: ClosedRange<Duration>, start: Int64? = nil) {
        (self.flows, self.span, self.start) = (flows, span, start)
    }

    package mutating func beginSection() { sessions.beginSection() }
    package mutating func add(_ interface: CaptureInterface) { sessions.add(interface) }

    /// Whether this packet is among them. Every packet of the file must be asked for, in its order.
    package mutating func admits(_ packet: CapturedPacket) -> Bool {
        let time = start.map { since($0, packet) } ?? (sessions.time(of: packet.nanoseconds) - .zero)
        guard let taken = sessions.take(packet) else { return false }
        return flows.contains(taken.session) && span.contains(time)
    }

    private func since(_ start: Int64, _ packet: CapturedPacket) -> Duration {
        let (time, overflow) = packet.nanoseconds.subtractingReportingOverflow(start)
        return overflow ? .zero : .nanoseconds(max(0, time))
    }
}

/// Writes what a selection admits as pcapng, block by block.
package struct CaptureExport: Sendable {
    private var reader = CaptureReader()
    private var selection: PacketSelection
    private var writer = PcapngWriter()
    /// Whether nothing is left out: fragments and what is neither TCP nor UDP neither, and the state of sockets goes along.
    private let isWhole: Bool
    private var pending: [CaptureInterface] = []
    /// The number in the new file of each interface that has a packet there.
    private var numbers: [Int: UInt32] = [:]
    private var hasSection = false
    /// Packets written.
    package private(set) var packets: UInt64 = 0

    package init(_ selection: PacketSelection, isWhole: Bool) {
        (self.selection, self.isWhole) = (selection, isWhole)
    }

    /// Returns the blocks made since the last call.
    package mutating func take() -> [UInt8] { writer.take() }

    /// Takes the next bytes of the file.
    package mutating func take(_ bytes: some Collection<UInt8>) throws(CaptureError) {
        reader.append(bytes)
        while let entry = try reader.next() {
            switch entry {
            case .section(let application, let comment): begin(application, comment)
            case .interface(let interface):
                if !hasSection { begin("socktui", "") }
                selection.add(interface)
                pending.append(interface)
            case .packet(let packet): if isWhole || selection.admits(packet) { write(packet) }
            // These are of all sessions, and a part is often meant for others.
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
