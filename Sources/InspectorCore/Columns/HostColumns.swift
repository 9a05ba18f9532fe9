import SocketCore

/// The columns of other programs' sockets, inspected from outside. The program comes first.
extension ListColumn {
    static let host: [ListColumn] = [
        hosts("host", "HOST", 8, "the host it is on, if there are several", rank: 1) { $0.host?.machine }.with {
            $0.isRare = true
        },
        hosts("program", "PROGRAM", 10, "the program that has it open", { $0.program == nil ? .dim : .plain }) {
            $0.host?.programText
        }.with { column in
            column.marksSearch = true
            let alone = column.cell
            column.cell = { row, sight in
                row.folded.map { Cell(Format.count($0, "socket"), .dim) } ?? alone(row, sight)
            }
        },
        ListColumn(
            name: "fd", title: "FD", width: 4, alignsRight: true, meaning: "its descriptor", rank: 5, isSteady: true,
            value: { row, _ in row.socket.descriptor.map { .number(Double($0)) } },
            cell: { row, _ in row.socket.descriptor.map { Cell(String($0), .dim) } }),
        hosts("state", "STATE", 6, "TCP's state", rank: 3) { String($0.stateWord.filter { $0 != "-" }.prefix(6)) },
        hosts("peer", "PEER", 9, "the program or the address at the other end", content: .address) {
            $0.host?.peerName ?? $0.peerText
        }.with { column in
            let alone = column.cell
            column.cell = { row, sight in row.folded == nil ? alone(row, sight) : nil }
        },
        amount("unread", "UNREAD", 7, "bytes its program has not read", \.unreadText) {
            $0.state == .listening ? $0.waiting : $0.unread
        } role: {
            $0.isCrowded ? .warn : .received
        },
        amount("unsent", "UNSENT", 6, "bytes the other end has not acknowledged", \.unsentText) {
            $0.transport.isUnix ? nil : $0.unsent
        } role: { _ in
            .sent
        }.with { $0.rank = 2 },
        hosts("asks", "ASKS", 9, "the call or event its program waits for", { $0.asks == nil ? .dim : .plain }, rank: 1)
        {
            $0.host?.asks
        },
        time("for", "FOR", "how long it has waited for that") { socket, _ in socket.host?.asksFor }.with {
            $0.rank = 4
        },
        hosts("container", "CONTAINER", 12, "the container of its program", { _ in .dim }, rank: 6) {
            $0.host?.container
        }.with { $0.isRare = true },
        hosts("netns", "NETNS", 10, "its network namespace", { _ in .dim }, rank: 7) { $0.host?.namespace?.label }.with
        {
            $0.isRare = true
            // That of this program is not worth a column.
            $0.value = { row, _ in
                row.socket.host?.namespace.flatMap { $0.isOwn ? nil : .text($0.label) }
            }
        },
        warnings,
    ]

    private static func hosts(
        _ name: String, _ title: String, _ width: Int, _ meaning: String,
        _ role: @escaping @Sendable (HostSnapshot) -> Role = { _ in .plain }, rank: Int = 0,
        content: Content = .text, _ words: @escaping @Sendable (SocketSnapshot) -> String?
    ) -> ListColumn {
        text(name, title, width, meaning, content, role: { $0.socket.host.map(role) ?? .dim }, words).with {
            $0.rank = rank
        }
    }

    private static func amount(
        _ name: String, _ title: String, _ width: Int, _ meaning: String,
        _ words: @escaping @Sendable (HostSnapshot) -> String?, _ count: @escaping @Sendable (HostSnapshot) -> Int64?,
        role: @escaping @Sendable (HostSnapshot) -> Role
    ) -> ListColumn {
        ListColumn(
            name: name, title: title, width: width, alignsRight: true, meaning: meaning, startsDescending: true,
            unit: .bytes,
            value: { row, _ in row.socket.host.flatMap(count).map { .number(Double($0)) } },
            cell: { row, _ in row.socket.host.flatMap { host in words(host).map { Cell($0, role(host)) } } })
    }
}
