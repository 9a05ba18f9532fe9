import SocketCore

/// The conversation of a relayed connection: what passes is said by the client or by the server, never by us.
extension TrafficDocument {
    enum Speaker: String { case client, server }

    /// Who said an item, or `nil` if the connection is not relayed. The client's leg receives from the client, the
    /// server's leg sends for it.
    func speaks(_ item: TrafficItem) -> Speaker? {
        guard let socket, let linked = socket.linked else { return nil }
        return (item.direction == .received) == (socket.id < linked) ? .client : .server
    }

    /// What goes to the server looks like what is sent.
    func style(of item: TrafficItem) -> Style {
        Style(speaks(item).map { $0 == .client } ?? (item.direction == .sent) ? .sent : .received)
    }

    /// `client 18 B`, `server 4096 of 8192 B so far`.
    func speakerWords(_ item: TrafficItem) -> String {
        let name = speaks(item)?.rawValue ?? ""
        return switch item.state {
        case .complete: "\(name) \(item.done) B"
        case .inProgress: "\(name) \(item.total.map { "\(item.done) of \($0)" } ?? "\(item.done)") B so far"
        case .failed(let reason): "\(name) \(item.done) B, not all forwarded: \(reason)"
        }
    }
}
