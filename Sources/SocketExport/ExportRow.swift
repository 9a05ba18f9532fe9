import SocketCore
import SocketRecords
import SocketWorkshop

/// One session of a capture that can be exported: a row of the list, and the session's packets.
package struct ExportRow: Sendable {
    /// Its snapshot, for filters.
    package var snapshot: SocketSnapshot
    /// The indices of its sessions in `CapturedSessions`. The plaintext and the ciphertext of TLS are two sessions.
    package var flows: [Int] = []
    /// The session with the programs' own bytes: the plaintext, if there is any.
    package var flow: Int
    /// Whether that session is the plaintext of TLS.
    package var isPlaintext = false
    package var isStream: Bool
    /// Why it is not one conversation, or `nil` if it is.
    package var obstacle: String?
    /// The end that connected.
    package var client: SyntheticPacket.End
    /// The address it connected to, in the form that `socktui connect` takes.
    package var target: String
    /// How it named that address to the proxy that accepted it, or `nil` if no proxy did.
    package var proxy: ProxyKind?

    package var id: SocketID { snapshot.id }

    /// The row as one line of a list.
    package var words: String {
        let ends = [snapshot.local, snapshot.peer].compactMap { $0?.description }
        let between = ends.isEmpty ? snapshot.target : ends.joined(separator: " and ")
        return "\(id) \(snapshot.role.rawValue) \(between), \(snapshot.sent) B sent, \(snapshot.received) B received"
    }
}

/// Reads a whole capture and finds its rows. Its memory is bounded like that of an opened capture.
package struct ExportIndex: Sendable {
    private struct Flow: Sendable {
        var interface: CaptureInterface?
        /// The end that sent a SYN.
        var client: SyntheticPacket.End?
        /// The first byte of a stream.
        var firstByte: UInt8?
    }

    private var reader = CaptureReader()
    private var packets = CapturedSessions(keeping: 0, all: 0)
    private var interfaces: [CaptureInterface] = []
    private var flows: [Flow] = []
    /// The snapshots of a recording by this program, which are read as when it is opened.
    private var recording = OpenedCapture(keeping: 0, all: 0)
    private var latest: [SocketID: SocketSnapshot] = [:]
    /// The number of updates of the recording that `latest` has.
    private var merged: UInt64 = 0
    /// When a recording by this program begins, in nanoseconds since 1970: at its first snapshot, or `nil` if at its
    /// first packet.
    package var start: Int64? { recording.beginning?.wallNanoseconds }
    /// Whether the file has frames of the inspection wire.
    package var isOurs: Bool { recording.isOurs }

    /// The file's problem, if it ends here.
    package var problemAtEnd: String? { reader.problemAtEnd ?? packets.unreadable }
    /// The packets of link types that are not read here, as text.
    package var unreadLinks: [String] { packets.unreadLinks }

    /// Why some sessions are missing, or `nil` if none is.
    package var shortcoming: String? {
        packets.refused > 0 ? "\(packets.refused) packets beyond the limit of \(packets.limit) sessions" : nil
    }

    package init() {}

    /// Processes the next bytes of the file.
    package mutating func absorb(_ bytes: some Collection<UInt8>) throws(CaptureError) {
        reader.append(bytes)
        while let entry = try reader.next() {
            switch entry {
            case .section:
                packets.beginSection()
                interfaces = []
            case .interface(let interface):
                packets.add(interface)
                interfaces.append(interface)
            case .packet(let packet): note(packet)
            case .frames(let frames): try recording.absorb(frames: frames)
            case .name, .secrets: break
            }
        }
        // A piece of the file has a part of an update, or several.
        guard isOurs, recording.updates != merged else { return }
        merged = recording.updates
        let snapshot = recording.snapshot(SnapshotRequest(), named: "")
        for socket in snapshot?.sockets ?? [] where latest.count < packets.limit || latest[socket.id] != nil {
            latest[socket.id] = socket
        }
    }

    private mutating func note(_ packet: CapturedPacket) {
        guard let taken = packets.absorb(packet) else { return }
        if taken.session == flows.count {
            let isKnown = interfaces.indices.contains(packet.interface)
            flows.append(Flow(interface: isKnown ? interfaces[packet.interface] : nil))
        }
        if flows.indices.contains(taken.session), flows[taken.session].firstByte == nil {
            flows[taken.session].firstByte = taken.pieces.lazy.compactMap { $0.firstByte }.first
        }
        guard case .tcp(let segment) = taken.packet.content, segment.flags.contains(.syn),
            flows.indices.contains(taken.session), flows[taken.session].client == nil
        else { return }
        let isAnswer = segment.flags.contains(.ack)
        flows[taken.session].client = isAnswer ? taken.packet.destination : taken.packet.source
    }

    /// The latest instant at which a session began or ended.
    package var end: MonotonicTime {
        let ends = packets.sessions.lazy.map { max($0.opened, $0.closed ?? .zero) }
        let known = latest.values.lazy.map { max($0.opened, $0.closed?.time ?? .zero) }
        return max(ends.max() ?? .zero, known.max() ?? .zero)
    }

    /// Returns the rows that have packets and match, in the order of their numbers.
    package func rows(_ matches: (SocketSnapshot) -> Bool = { _ in true }) -> [ExportRow] {
        var rows: [SocketID: ExportRow] = [:]
        for (index, session) in packets.sessions.enumerated() where flows.indices.contains(index) {
            let row = row(of: index, session)
            // The flows of one session have the same snapshot.
            guard matches(row.snapshot) else { continue }
            guard var former = rows[row.id] else {
                rows[row.id] = row
                continue
            }
            let flows = former.flows + [index]
            // Plaintext begins after the ciphertext that carries it.
            if row.isPlaintext { former = row }
            former.flows = flows
            former.obstacle = obstacle(former)
            rows[row.id] = former
        }
        return rows.values.sorted { $0.id < $1.id }
    }

    /// The first byte of a TLS handshake record.
    private static let handshake: UInt8 = 22

    private func obstacle(_ row: ExportRow) -> String? {
        if !row.isStream { return "its datagrams have \(row.flows.count) address pairs, but only one can be exported" }
        let clear = row.flows.filter { $0 != row.flow }
        guard row.isPlaintext,
            let first = clear.lazy.compactMap({ flows[$0].firstByte }).first, first != Self.handshake
        else { return nil }
        let bytes = clear.reduce(UInt64(0)) { $0 + packets.sessions[$1].sent + packets.sessions[$1].received }
        return "it has \(bytes) bytes from before TLS or of TLS records, and only one conversation can be exported"
    }

    private func row(of index: Int, _ session: CapturedSession) -> ExportRow {
        let interface = flows[index].interface
        let name = interface?.name ?? ""
        let known = isOurs && name.hasPrefix("#") ? SocketID(recorded: name.dropFirst().prefix { $0 != " " }) : nil
        let id = known ?? session.id
        var snapshot = session.snapshot
        snapshot.id = id
        if known != nil, let latest = latest[id] { snapshot = latest }
        // In a recording by this program the local end is the socket's. In any other file it is the client's.
        let isServer = known != nil && snapshot.role == .accepted
        let client = flows[index].client ?? (isServer ? session.peer : session.local)
        let isPlaintext = known != nil && name.hasSuffix(" plaintext")
        var row = ExportRow(
            snapshot: snapshot, flows: [index], flow: index, isPlaintext: isPlaintext, isStream: session.isStream,
            client: client, target: target(of: snapshot, isPlaintext: isPlaintext, isServer: isServer))
        if isServer, other(of: snapshot) != nil {
            let listener = snapshot.parent.flatMap { latest[$0] }?.name ?? ""
            row.proxy = ProxyKind.allCases.first { listener.hasPrefix($0.listenerName) }
        }
        return row
    }

    /// Returns the connection that a relay opened for an accepted one, or `nil` if there is none.
    private func other(of snapshot: SocketSnapshot) -> SocketSnapshot? {
        snapshot.linked.flatMap { latest[$0] }.flatMap { $0.role == .client ? $0 : nil }
    }

    private func target(of snapshot: SocketSnapshot, isPlaintext: Bool, isServer: Bool) -> String {
        // A relay's own port is gone with it; what it relayed to is still there.
        if isServer, let other = other(of: snapshot) {
            let address = other.peer?.description ?? other.target
            return other.tls == nil ? address : "tls://\(other.target.isEmpty ? address : other.target)"
        }
        let address = (isServer ? snapshot.local : snapshot.peer)?.description ?? snapshot.target
        if snapshot.role == .datagram { return address.hasPrefix("unix") ? address : "udp://\(address)" }
        guard isPlaintext else { return address }
        // The requested name is the one on the certificate.
        let name = isServer ? address : snapshot.target
        return "tls://\(name)"
    }
}

extension StreamAssembler.Piece {
    fileprivate var firstByte: UInt8? { if case .bytes(let bytes) = self { bytes.first } else { nil } }
}
