import InspectorCore
import SocketCore

/// The view of one connection's traffic as dissected by another program.
package struct Dissection: Sendable {
    package enum Stage: Equatable, Sendable {
        case off
        case running
        /// Its input has ended, and its remaining output is expected.
        case finishing
        /// It has ended. The value is the reason, or `nil` if it has reported everything.
        case ended(String?)
    }

    /// An item dissected in full.
    package struct Tree: Equatable, Sendable {
        package var lines: [String]
        package var more: Int
    }

    package private(set) var stage = Stage.off
    package private(set) var socket: SocketID?
    /// The rules from `decode-as`.
    package private(set) var rules: [String] = []
    package private(set) var tape: DissectionTape?
    /// The description of each item, with a line for each frame that carries it.
    package private(set) var summaries: [UInt64: [String]] = [:]
    package private(set) var trees: [UInt64: Tree] = [:]
    /// The items that were requested in full.
    package private(set) var asked: Set<UInt64> = []
    /// The number of shortened lines. `left` is the number of lines left out.
    package private(set) var cut = 0
    package private(set) var left = 0
    private var run = 0

    /// The most lines kept for one item, lines in total, and items kept in full.
    package static let lineLimit = 64
    package static let totalLimit = 100_000
    package static let treeLimit = 200
    /// The most bytes of packets for one run.
    package static let lengthLimit = 64 << 20
    /// The number of frames of an item that are shown in full, from the first.
    private static let frameLimit = 64
    private var total = 0

    package init() {}

    var isRunning: Bool { stage == .running || stage == .finishing }

    /// Starts with another connection, or starts again.
    mutating func begin(_ socket: SocketSnapshot) -> DissectionRequest {
        let (rules, run) = (rules, run + 1)
        self = Dissection()
        (self.rules, self.run, self.socket, stage) = (rules, run, socket.id, .running)
        let tape = DissectionTape(socket)
        self.tape = tape
        return .begin(run: run, rules: Self.hints(socket, tape) + rules)
    }

    /// Leaves the view. Returns `nil` if nothing must be stopped.
    mutating func stop() -> DissectionRequest? {
        guard stage != .off else { return nil }
        let (rules, run) = (rules, run)
        self = Dissection()
        (self.rules, self.run) = (rules, run)
        return .stop
    }

    /// Adds a rule, or removes all, and starts again.
    mutating func add(_ rule: String?) {
        rules = rule.map { rules + [$0] } ?? []
        if rules.count > 32 { rules.removeFirst() }
        if stage != .off { stage = .ended(nil) }
        socket = nil
    }

    /// Starts again if it ended early.
    mutating func beginAgainIfEnded() { if case .ended(.some) = stage { socket = nil } }

    /// Returns the requests needed for the current traffic.
    mutating func follow(
        _ traffic: [TrafficItem], of socket: SocketSnapshot, wall: (MonotonicTime) -> UInt64
    ) -> [DissectionRequest] {
        var requests: [DissectionRequest] = []
        if self.socket != socket.id || tape?.isOvertaken(by: traffic) == true {
            if stage != .off { requests.append(.stop) }
            requests.append(begin(socket))
        }
        guard stage == .running else { return requests }
        if let bytes = tape?.absorb(traffic, wall: wall), !bytes.isEmpty {
            requests.append(.packets(run: run, bytes))
        }
        if let length = tape?.length, length > Self.lengthLimit {
            stage = .ended("\(Format.size(length)) were dissected, the limit of one pass; :view dissected continues")
            requests.append(.stop)
        } else if socket.closed != nil, tape?.isWhole == true {
            stage = .finishing
            requests.append(.finish(run: run))
        }
        return requests
    }

    /// Requests an item in full, once.
    mutating func ask(for item: UInt64) -> DissectionRequest? {
        guard stage != .off, trees[item] == nil, !asked.contains(item), let frames = tape?.frames(of: item),
            !frames.isEmpty
        else { return nil }
        asked.insert(item)
        return .tree(run: run, item: item, frames: Array(frames.prefix(Self.frameLimit)))
    }

    mutating func absorb(_ news: DissectionNews) {
        guard news.run == run, stage != .off else { return }
        switch news {
        case .lines(_, let lines, let cut):
            self.cut += cut
            for line in lines { absorb(line) }
        case .tree(_, let item, let lines, let more):
            if trees.count >= Self.treeLimit { trees = [:] }
            trees[item] = Tree(lines: lines, more: more)
            asked.remove(item)
        case .ended(_, let reason): if isRunning { stage = .ended(reason) }
        }
    }

    private mutating func absorb(_ line: String) {
        let fields = line.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, let frame = Int(fields[0]), let item = tape?.item(ofFrame: frame) else { return }
        guard total < Self.totalLimit, summaries[item, default: []].count < Self.lineLimit else {
            left += 1
            return
        }
        total += 1
        summaries[item, default: []].append("\(fields[1])  \(fields[2])")
    }

    /// Drops the descriptions of items that are no longer kept.
    mutating func forget(before first: UInt64) {
        guard summaries.count > 2_048 else { return }
        for (item, lines) in summaries where item < first {
            total -= lines.count
            summaries[item] = nil
            trees[item] = nil
        }
    }

    /// The protocols inside TLS, by port. The plaintext has the same port as the ciphertext.
    private static let inside: [(port: UInt16, name: String)] = [
        (443, "http"), (8_443, "http"), (993, "imap"), (995, "pop"), (465, "smtp"), (636, "ldap"), (853, "dns"),
        (5_671, "amqp"), (6_697, "irc"), (8_883, "mqtt"), (990, "ftp"), (992, "telnet"), (6_380, "resp"),
    ]

    private static func hints(_ socket: SocketSnapshot, _ tape: DissectionTape) -> [String] {
        guard socket.tls != nil else { return [] }
        let server = socket.role == .accepted ? tape.ends.local.port : tape.ends.peer.port
        return inside.filter { $0.port == server }.map { "tcp.port==\($0.port),\($0.name)" }
    }
}
