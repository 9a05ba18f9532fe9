import SocketCore

// What an agent tells of a process and its threads.

extension HostProcess: WireMessage {
    package static var blank: HostProcess {
        HostProcess(id: ID(number: 0, start: 0), name: "", command: "", state: 0, parent: 0)
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &id.number)
        try coder.field(2, &id.start)
        try coder.field(3, &name)
        try coder.field(4, &command)
        try coder.field(5, &executable)
        try coder.field(6, &isGo)
        try coder.narrow(7, &state)
        try coder.field(8, &parent)
        try coder.field(9, &parentExecutable)
        try coder.narrow(10, &user)
        try coder.field(11, &age)
        var open = sockets.map { OpenSocket(descriptor: $0.key, inode: $0.value) }
            .sorted { $0.descriptor < $1.descriptor }
        try coder.field(12, &open)
        sockets = Dictionary(open.map { ($0.descriptor, $0.inode) }) { $1 }
        try coder.field(13, &keptOverExec)
        try coder.field(14, &nonBlocking)
        try coder.field(15, &flagsRead)
        var sets = pollSets.map { PollSet(descriptor: $0.key, isRead: $0.value != nil, entries: $0.value ?? []) }
            .sorted { $0.descriptor < $1.descriptor }
        try coder.field(16, &sets)
        pollSets = Dictionary(sets.map { ($0.descriptor, $0.isRead ? $0.entries : nil) }) { $1 }
        try coder.field(17, &hasRing)
        try coder.field(18, &isFrozen)
        try coder.field(19, &cgroup)
        try coder.field(20, &threads)
        try coder.field(21, &rung)
    }

    struct OpenSocket: WireMessage {
        var descriptor: Int32 = 0
        var inode: UInt64 = 0

        static var blank: OpenSocket { OpenSocket() }

        mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
            try coder.field(1, &descriptor)
            try coder.field(2, &inode)
        }
    }

    struct PollSet: WireMessage {
        var descriptor: Int32 = 0
        var isRead = false
        var entries: [PollEntry] = []

        static var blank: PollSet { PollSet() }

        mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
            try coder.field(1, &descriptor)
            try coder.field(2, &isRead)
            try coder.field(3, &entries)
        }
    }
}

extension HostProcess.Rung: WireAlias {
    package var written: UInt64 { UInt64(rawValue) }
    package init(written: UInt64) throws(WireError) {
        guard let rung = Self(rawValue: Int(written)) else { throw .unknown }
        self = rung
    }

    package var isDefault: Bool { false }
}

extension HostProcess.PollEntry: WireMessage {
    package static var blank: Self { Self(descriptor: 0, events: 0, inode: 0) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &descriptor)
        try coder.narrow(2, &events)
        try coder.field(3, &inode)
    }
}

extension HostThread: WireMessage {
    package static var blank: HostThread { HostThread(number: 0, name: "", state: 0) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &number)
        try coder.field(2, &name)
        try coder.narrow(3, &state)
        try coder.field(4, &call)
        try coder.field(5, &waitChannel)
        try coder.field(6, &idle)
        try coder.field(7, &switches)
        try coder.field(8, &ran)
    }
}

extension HostCall: WireMessage {
    package static var blank: HostCall { HostCall(.other, "") }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &kind)
        try coder.field(2, &name)
        try coder.field(3, &reads)
        try coder.field(4, &writes)
        try coder.field(5, &accepts)
        try coder.field(6, &pollSet)
        try coder.field(7, &amount)
        try coder.field(8, &waitsForAll)
    }
}

extension HostCall.Kind: WireAlias {
    private static let words: [(kind: Self, word: String)] = [
        (.read, "read"), (.write, "write"), (.accept, "accept"), (.connect, "connect"), (.poll, "poll"),
        (.pollSet, "pollSet"), (.other, "other"), (.restarted, "restarted"), (.running, "running"),
        (.outside, "outside"),
    ]

    package var written: String { Self.words.first { $0.kind == self }?.word ?? "other" }

    /// A kind that this version doesn't know is a call for which it can't be determined what it waits for.
    package init(written: String) { self = Self.words.first { $0.word == written }?.kind ?? .restarted }

    package var isDefault: Bool { false }
}
