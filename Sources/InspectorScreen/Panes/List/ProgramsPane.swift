import InspectorCore
import SocketCore

/// The programs of the listed sockets, which replace the rows.
package struct ProgramsPane: Hashable, Sendable {
    /// The owner whose sockets a row counts.
    package enum Owner: Hashable, Sendable {
        case process(Int32, on: String?)
        /// This user's programs that can't be seen.
        case user(UInt32, on: String?)
        /// Sockets that their programs have closed, or not accepted yet.
        case nobody
    }

    package struct Row: Hashable, Sendable {
        package var owner: Owner
        /// Not sanitized.
        package var title: String
        /// The number of sockets by state. `other` counts those in none of the three.
        package var (established, listening, closeWait, other) = (0, 0, 0, 0)
        /// Bytes per second, or `nil` if they are not known for any of its sockets.
        package var receiveRate: Double?
        package var sendRate: Double?
        /// Its worst verdict. `lasting` is the duration of the longest one.
        package var worst: Verdict?
        package var lasting: Duration?
        /// The socket of the worst verdict, or its first socket.
        package var socket: SocketID

        package var count: Int { established + listening + closeWait + other }

        fileprivate init(_ owner: Owner, _ title: String, _ socket: SocketID) {
            (self.owner, self.title, self.socket) = (owner, title, socket)
        }

        /// The filter that selects its sockets, or `nil` if there is none.
        var filter: String? {
            switch owner {
            case .process(let number, let machine): "pid:\(number)" + (machine.map { " host:\($0)" } ?? "")
            case .user(let number, let machine): "user:\(number)" + (machine.map { " host:\($0)" } ?? "")
            case .nobody: nil
            }
        }
    }

    package private(set) var rows: [Row] = []
    /// The row with the cursor.
    package private(set) var chosen: Owner?
    /// The first visible row.
    package private(set) var top = 0

    package var cursor: Int { chosen.flatMap { owner in rows.firstIndex { $0.owner == owner } } ?? 0 }
    package var current: Row? { rows.indices.contains(cursor) ? rows[cursor] : nil }

    /// Counts the live ones of these sockets. The worst program comes first.
    mutating func absorb(_ sockets: [SocketSnapshot], _ findings: Findings) {
        let place = cursor
        var found: [Owner: Row] = [:]
        for socket in sockets where socket.isLive {
            guard let host = socket.host else { continue }
            let owner = Owner(host)
            found[owner, default: Row(owner, host.ownerTitle, socket.id)].count(socket, host, findings[socket.id])
        }
        rows = found.values.sorted { left, right in
            let (worse, better) = (left.worst?.severity.rawValue ?? -1, right.worst?.severity.rawValue ?? -1)
            if worse != better { return worse > better }
            return left.count == right.count ? left.title < right.title : left.count > right.count
        }
        // If its row is gone, the cursor keeps its position.
        if chosen == nil || !rows.contains(where: { $0.owner == chosen }) {
            chosen = rows.isEmpty ? nil : rows[min(place, rows.count - 1)].owner
        }
    }

    mutating func move(_ step: Int) { choose(cursor + step) }

    mutating func choose(_ row: Int) {
        guard !rows.isEmpty else { return }
        chosen = rows[min(max(0, row), rows.count - 1)].owner
    }

    mutating func keepInSight(height: Int) {
        let height = max(1, height)
        top = max(min(top, cursor), cursor - height + 1)
        top = min(max(0, top), max(0, rows.count - height))
    }
}

extension ProgramsPane.Owner {
    fileprivate init(_ host: HostSnapshot) {
        let machine = host.machine
        self = host.process.map { .process($0, on: machine) } ?? host.user.map { .user($0, on: machine) } ?? .nobody
    }
}

extension HostSnapshot {
    fileprivate var ownerTitle: String {
        guard program != nil || user != nil else { return "no program" }
        return (program ?? programUserText) + (machine.map { " on \($0)" } ?? "")
    }
}

extension ProgramsPane.Row {
    fileprivate mutating func count(_ socket: SocketSnapshot, _ host: HostSnapshot, _ found: [Verdict]) {
        switch host.state {
        case .established: established += 1
        case .listening: listening += 1
        case .closeWait: closeWait += 1
        default: other += 1
        }
        if let rate = socket.receiveRate { receiveRate = (receiveRate ?? 0) + rate }
        if let rate = socket.sendRate { sendRate = (sendRate ?? 0) + rate }
        for finding in found {
            if let time = finding.lasting { lasting = max(lasting ?? .zero, time) }
            if worst.map({ finding.severity > $0.severity }) ?? true { (worst, self.socket) = (finding, socket.id) }
        }
    }
}
