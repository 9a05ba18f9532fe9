import InspectorCore
import SocketCore

/// The traffic of a relayed connection. The client or the server is the sender of each item, except for items that the
/// user injected.
extension TrafficDocument {
    enum Speaker: String { case client, server }

    /// Returns the sender of an item, or `nil` if the connection is not relayed or the user injected the item.
    func speaks(_ item: TrafficItem) -> Speaker? {
        item.isInjected ? nil : goesToServer(item).map { $0 ? .client : .server }
    }

    /// Whether an item of a relayed connection goes to the server. The client's leg receives from the client, and the
    /// server's leg sends for it.
    func goesToServer(_ item: TrafficItem) -> Bool? {
        guard let socket else { return nil }
        if socket.datagrams?.client != nil { return item.direction == .sent }
        guard socket.linked != nil else { return nil }
        return (item.direction == .received) == socket.isClientLeg
    }

    /// Returns what the user injected into the connection's other leg, whose traffic is not shown here.
    static func injections(
        _ model: Model, _ socket: SocketSnapshot, before end: UInt64
    ) -> [(time: MonotonicTime, block: Block)] {
        guard let linked = socket.linked else { return [] }
        return model.log.entries(about: linked).compactMap { entry in
            guard case .event(let event) = entry, event.socket == linked, event.kind == .injected,
                event.sequence < end
            else { return nil }
            return (event.time, Block(key: .note(event.sequence), content: .note(event)))
        }
    }

    /// Returns the style. What goes to the server looks like sent bytes.
    func style(of item: TrafficItem) -> Style {
        Style(goesToServer(item) ?? (item.direction == .sent) ? .sent : .received)
    }

    /// Whether the client had begun TLS inside another protocol by then.
    private func isCiphertext(_ item: TrafficItem) -> Bool { upgraded.map { item.time >= $0 } ?? false }

    /// `client 18 B`, `server 4096 of 8192 B so far`.
    func speakerWords(_ item: TrafficItem) -> String {
        let name = (speaks(item)?.rawValue ?? "") + (isCiphertext(item) ? ", ciphertext," : "")
        return switch item.state {
        case .complete: "\(name) \(item.done) B"
        case .inProgress: "\(name) \(item.total.map { "\(item.done) of \($0)" } ?? "\(item.done)") B so far"
        case .failed(let reason): "\(name) \(item.done) B, not all forwarded: \(reason)"
        }
    }
}
