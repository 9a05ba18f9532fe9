import SocketCore

/// What the shell does so that packets are dissected.
package enum DissectionRequest: Hashable, Sendable {
    /// Start a dissector; `rules`: which protocol what is.
    case begin(run: Int, rules: [String])
    /// The next bytes of its capture file.
    case packets(run: Int, [UInt8])
    /// The file has ended.
    case finish(run: Int)
    /// Dissect these frames in full.
    case tree(run: Int, item: UInt64, frames: [Int])
    /// End all of it.
    case stop
}

/// What a dissector said. All text of it is foreign.
package enum DissectionNews: Hashable, Sendable {
    /// Lines with a frame's number, its protocol and what it is, apart by tabs; `cut`: how many were shortened.
    case lines(run: Int, [String], cut: Int)
    /// One item in full; `more`: lines that are left out.
    case tree(run: Int, item: UInt64, [String], more: Int)
    /// It has ended; `nil`: after all that it was given.
    case ended(run: Int, String?)

    var run: Int {
        switch self {
        case .lines(let run, _, _), .tree(let run, _, _, _), .ended(let run, _): run
        }
    }
}

/// The view of one connection's traffic that another program dissects.
package struct Dissection: Sendable {
    package enum Stage: Hashable, Sendable {
        case off
        case running
        /// Its end of the file is told; what it still says comes.
        case finishing
        /// It has said everything; or why it has not.
        case ended(String?)
    }

    /// What one item is in full.
    package struct Tree: Hashable, Sendable {
        package var lines: [String]
        package var more: Int
    }

    package private(set) var stage = Stage.off
    package private(set) var socket: SocketID?
    /// What `decode-as` asked for.
    package private(set) var rules: [String] = []
    package private(set) var tape: DissectionTape?
    /// What each item is, a line for each frame that carries it.
    package private(set) var summaries: [UInt64: [String]] = [:]
    package private(set) var trees: [UInt64: Tree] = [:]
    /// Items that were asked for in full.
    package private(set) var asked: Set<UInt64> = []
    /// Lines that were shortened, and those that were left out.
    package private(set) var cut = 0
    package private(set) var left = 0
    private var run = 0

    /// Lines that are kept of one item, lines in all, and items that are kept in full.
    package static let lineLimit = 64
    package static let totalLimit = 100_000
    package static let treeLimit = 200
    /// Bytes of packets that one run is given.
    package static let lengthLimit = 64 << 20
    /// Frames of one item that are shown in full, the first ones.
    private static let frameLimit = 64
    private var total = 0

    package init() {}

    var isRunning: Bool { stage == .running || stage == .finishing }

    /// Begins with another connection, or again.
    mutating func begin(_ socket: SocketSnapshot) -> DissectionRequest {
        let (rules, run) = (rules, run + 1)
        self = Dissection()
        (self.rules, self.run, self.socket, stage) = (rules, run, socket.id, .running)
        let tape = DissectionTape(socket)
        self.tape = tape
        return .begin(run: run, rules: Self.hints(socket, tape) + rules)
    }

    /// Leaves the view; `nil`: nothing is to be ended.
    mutating func stop() -> DissectionRequest? {
        guard stage != .off else { return nil }
        let (rules, run) = (rules, run)
        self = Dissection()
        (self.rules, self.run) = (rules, run)
        return .stop
    }

    /// Adds a rule, or forgets all; it begins again.
    mutating func add(_ rule: String?) {
        rules = rule.map { rules + [$0] } ?? []
        if rules.count > 32 { rules.removeFirst() }
        if stage != .off { stage = .ended(nil) }
        socket = nil
    }

    /// Begins again where it has ended too soon.
    mutating func beginAgainIfEnded() { if case .ended(.some) = stage { socket = nil } }

    /// What to do now that this is the traffic.
    mutating func follow(
        _ traffic: [TrafficItem], of socket: SocketSnapshot, wall: (MonotonicTime) -> UInt64
    ) -> [DissectionRequest] {
        var requests: [DissectionRequest] = []
        if self.socket != socket.id || tape?.isOvertaken(by: traffic) == true {
            if stage != .off { requests.append(.stop) }
            requests.append(begin(socket))
        }
        guard stage == .running else { return requests }
        if let bytes = tape?.take(traffic, wall: wall), !bytes.isEmpty {
            requests.append(.packets(run: run, bytes))
        }
        if let length = tape?.length, length > Self.lengthLimit {
            stage = .ended("\(Format.size(length)) were dissected, the most of one run; :view dissected begins again")
            requests.append(.stop)
        } else if socket.closed != nil, tape?.isWhole == true {
            stage = .finishing
            requests.append(.finish(run: run))
        }
        return requests
    }

    /// Asks for an item in full, once.
    mutating func ask(for item: UInt64) -> DissectionRequest? {
        guard stage != .off, trees[item] == nil, !asked.contains(item), let frames = tape?.frames(of: item),
            !frames.isEmpty
        else { return nil }
        asked.insert(item)
        return .tree(run: run, item: item, frames: Array(frames.prefix(Self.frameLimit)))
    }

    mutating func take(_ news: DissectionNews) {
        guard news.run == run, stage != .off else { return }
        switch news {
        case .lines(_, let lines, let cut):
            self.cut += cut
            for line in lines { take(line) }
        case .tree(_, let item, let lines, let more):
            if trees.count >= Self.treeLimit { trees = [:] }
            trees[item] = Tree(lines: lines, more: more)
            asked.remove(item)
        case .ended(_, let reason): if isRunning { stage = .ended(reason) }
        }
    }

    private mutating func take(_ line: String) {
        let fields = line.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, let frame = Int(fields[0]), let item = tape?.item(ofFrame: frame) else { return }
        guard total < Self.totalLimit, summaries[item, default: []].count < Self.lineLimit else {
            left += 1
            return
        }
        total += 1
        summaries[item, default: []].append("\(fields[1])  \(fields[2])")
    }

    /// Drops what was said of items that are no longer kept.
    mutating func forget(before first: UInt64) {
        guard summaries.count > 2_048 else { return }
        for (item, lines) in summaries where item < first {
            total -= lines.count
            summaries[item] = nil
            trees[item] = nil
        }
    }

    /// What is inside TLS, where the port says so: its plaintext has the port of the ciphertext.
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
