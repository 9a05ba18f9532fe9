import SocketCore

extension HostUpdate {
    /// The most elements of a list in one frame.
    private static let chunk = 500

    /// The update as an agent writes it, as of the time at which it is sent.
    package func frames(sent: MonotonicTime) -> [AgentFrame] {
        var end = AgentLookEnd()
        (end.number, end.sent) = (number, sent)
        let owners = self.owners.sorted { $0.key < $1.key }.map { inode, list in
            var owners = AgentOwners()
            (owners.inode, owners.processes, owners.descriptors) = (inode, list.map(\.process), list.map(\.descriptor))
            return owners
        }
        return [.look(header)] + Self.chunks(told).map { .sockets($0) } + Self.chunks(owners).map { .owners($0) }
            + Self.chunks(of: processes).map { .programs($0) } + Self.chunks(closings).map { .closings($0) }
            + [.lookEnd(end)]
    }

    private static func chunks<Element>(_ list: [Element], of size: Int = chunk) -> [[Element]] {
        stride(from: 0, to: list.count, by: size).map { Array(list[$0..<min($0 + size, list.count)]) }
    }

    /// Cuts a list of programs so that a frame has few descriptors, or those of one program.
    private static func chunks(of processes: [HostProcess]) -> [[HostProcess]] {
        var (chunks, room): ([[HostProcess]], Int) = ([], 0)
        for process in processes {
            let weight = process.pollSets.values.reduce(8 + process.sockets.count + process.threads.count * 8) {
                $0 + ($1?.count ?? 0)
            }
            if weight > room { (chunks, room) = (chunks + [[]], chunk * 8) }
            chunks[chunks.count - 1].append(process)
            room -= weight
        }
        return chunks
    }

    private var header: AgentLook {
        var look = AgentLook()
        (look.number, look.isFull, look.time, look.interval) = (number, isFull, time, interval)
        (look.goneNamespaces, look.gone) = (gone.map { UInt16($0 >> 48) }, gone.map(HostSocket.cookie))
        (look.ended, look.namespaces, look.examined) = (ended, namespaces, examined)
        let marks = lowWater.sorted { $0.key < $1.key }
        (look.marked, look.marks) = (marks.map(\.key), marks.map(\.value))
        look.closingsLost = closingsLost
        (look.hiddenProcesses, look.hiddenCalls, look.hiddenReason) = (
            hidden.processes, hidden.withoutCalls, hidden.reason
        )
        (look.hiddenSockets, look.hiddenNamespaces) = (hidden.sockets, hidden.namespaces)
        look.hiddenTables = hidden.tables.map(\.title).sorted()
        return look
    }

    /// Begins an update with what the beginning of a look says.
    init(_ look: AgentLook) {
        self.init()
        (number, isFull, time, interval) = (look.number, look.isFull, look.time, look.interval)
        gone = zip(look.goneNamespaces, look.gone).map { HostSocket.id(cookie: HostSocket.cookie(of: $1), in: $0) }
        (ended, namespaces, examined) = (look.ended, look.namespaces, look.examined)
        lowWater = Dictionary(zip(look.marked, look.marks)) { $1 }
        closingsLost = look.closingsLost
        hidden.processes = max(0, look.hiddenProcesses)
        (hidden.withoutCalls, hidden.reason) = (look.hiddenCalls, look.hiddenReason.map { String($0.prefix(120)) })
        (hidden.sockets, hidden.namespaces) = (max(0, look.hiddenSockets), max(0, look.hiddenNamespaces))
        hidden.tables = Set(SocketTable.allCases.filter { look.hiddenTables.contains($0.title) })
    }

    mutating func add(_ owners: [AgentOwners]) {
        for one in owners {
            self.owners[one.inode] = zip(one.processes, one.descriptors).map {
                HostLook.Owner(process: $0, descriptor: $1)
            }
        }
    }
}
