import InspectorCore
import SocketKit

/// The auto-reply rules. A listener's rules apply to each connection that it accepts.
///
/// They are applied when a read is delivered, on the engine's queue, so that replies stay in order and bytes that
/// arrive faster than they can be answered wait in the kernel.
package struct AutoReplies {
    /// The number of bytes of a read that are examined.
    private static let lookedAt = 64 << 10

    private var rules: [SocketID: [ReplyRule]] = [:]
    private var parents: [SocketID: SocketID] = [:]
    private var sent: [SocketID: Int] = [:]

    /// Returns why rules can't be kept, or `nil` if they can.
    package static func problem(_ rules: [ReplyRule]) -> String? {
        for rule in rules {
            do throws(MessageText.Unsendable) {
                _ = try MessageText.bytes(rule.reply, .now(sequence: 1))
            } catch {
                return error.sentence
            }
        }
        return nil
    }

    package mutating func set(_ rules: [ReplyRule], of id: SocketID) { self.rules[id] = rules.isEmpty ? nil : rules }

    package mutating func accepted(_ id: SocketID, by listener: SocketID) { parents[id] = listener }

    package mutating func forget(_ id: SocketID) {
        rules[id] = nil
        parents[id] = nil
        sent[id] = nil
    }

    /// Returns a connection's replies to the bytes of one read, in the order of its rules.
    package mutating func replies(of id: SocketID, to bytes: [UInt8]) -> [[UInt8]] {
        let all = (rules[id] ?? []) + (parents[id].flatMap { rules[$0] } ?? [])
        guard !all.isEmpty else { return [] }
        let looked = bytes.count > Self.lookedAt ? Array(bytes[..<Self.lookedAt]) : bytes
        return all.compactMap { rule in
            guard rule.pattern.matches(looked) else { return nil }
            sent[id, default: 0] += 1
            return try? MessageText.bytes(rule.reply, .now(sequence: sent[id] ?? 1))
        }
    }
}
