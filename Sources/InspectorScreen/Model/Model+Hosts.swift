import InspectorCore
import SocketCore

/// The list of hosts, which replaces the list of their sockets.
extension Model {
    var showsHosts: Bool { tab == .list && list.hosts != nil }

    /// The host at the cursor of their list.
    var currentHost: HostStatus? {
        list.hosts.flatMap { shared.hosts.indices.contains($0.cursor) ? shared.hosts[$0.cursor] : nil }
    }

    /// Switches between the list of hosts and the list of sockets.
    mutating func toggleHosts() {
        guard !shared.hosts.isEmpty else {
            notice = hint("only socktui host @NAME lists hosts")
            return
        }
        list.listPrograms(false)
        list.hosts = list.hosts == nil ? HostsPane() : nil
        show(.list)
        refresh()
        selectOfHost()
    }

    /// Lists the sockets of the host at the cursor.
    mutating func openHost() {
        guard let host = currentHost, case .success(let filter) = Filter.parse("host:\(host.name)") else { return }
        list.hosts = nil
        setFilter(filter)
    }

    mutating func moveInHosts(_ step: Int) { chooseHost((list.hosts?.cursor ?? 0) + step) }

    mutating func chooseHost(_ row: Int) {
        list.hosts?.choose(row, of: shared.hosts.count)
        selectOfHost()
    }

    /// Selects what the rows below the list are about.
    private mutating func selectOfHost() {
        guard let name = currentHost?.name else { return }
        if let first = list.rows.first(where: { shared.shown?.socket($0)?.host?.machine == name }) { select(first) }
    }
}
