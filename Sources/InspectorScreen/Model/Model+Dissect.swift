import InspectorCore
import SocketCore

/// Dissection of traffic by another program, while its view is visible.
extension Model {
    /// The reason why the traffic of the selected connection is not dissected, or `nil` if it is.
    var whyNotDissected: String? {
        // A source that shows no payload may have kept some from before, as a file has.
        if let refusal = payloadRefusal, traffic.shown(in: shared).items.isEmpty { return refusal }
        if selected?.webSocket != nil {
            return "a WebSocket's traffic is kept as messages, not as bytes for tshark; :view auto shows it"
        }
        return nil
    }

    /// Whether dissected traffic is visible.
    var showsDissection: Bool { traffic.viewMode == .dissected && tab == .traffic }

    /// Returns the effects needed to dissect the visible traffic.
    mutating func followDissection() -> [Effect] {
        guard showsDissection, whyNotDissected == nil, let socket = selected, socket.role != .listener,
            traffic.socket == socket.id
        else { return dissection.stop().map { [.dissect($0)] } ?? [] }
        let items = traffic.shown(in: shared).items
        if let first = items.first { dissection.forget(before: first.sequence) }
        let clock = shownClock
        let requests = dissection.follow(items, of: socket) { UInt64(max(0, clock.wallNanoseconds($0) ?? 0)) }
        return requests.map { .dissect($0) }
    }

    /// Expands the item at the cursor, or folds it. For dissected traffic, expands its tree.
    mutating func expand() -> [Effect] {
        let item = traffic.item(in: document)
        toggleExpanded()
        guard showsDissection, let item, traffic.scroll.expanded.contains(item.sequence) else { return [] }
        return dissection.ask(for: item.sequence).map { [.dissect($0)] } ?? []
    }

    /// Adds a rule for the protocol of some traffic, or removes all rules if it is `nil`.
    mutating func decode(as rule: String?) {
        dissection.add(rule)
        let rules = dissection.rules.joined(separator: " ")
        let place = showsDissection ? "" : " in :view dissected"
        notice = .hint(rules.isEmpty ? "no rules" : "decoded as \(rules)" + place)
    }
}

extension Instruction {
    /// Parses a rule of tshark's `-d`, such as `tcp.port==7000,http`, or `off` for none.
    static func decoding(_ arguments: Arguments) throws(Failure) -> String? {
        let text = arguments.text
        if text == "off" { return nil }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let isPlain = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "._=,:-".utf8.contains(byte)
        }
        guard isPlain, parts.count == 2, !parts[1].isEmpty, let first = text.first, first.isLetter,
            parts[0].contains("==")
        else { throw Failure(text, "write a decode rule, as in tcp.port==7000,http, or off") }
        return text
    }
}
