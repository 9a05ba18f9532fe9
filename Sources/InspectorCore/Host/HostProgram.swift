import SocketCore

/// A process whose threads were examined, with its threads indexed by the descriptor they wait for.
struct HostProgram: Sendable {
    let process: HostProcess
    /// A waiting thread for each descriptor, as an index into the threads.
    private var readers: [Int32: Int] = [:]
    private var writers: [Int32: Int] = [:]
    private var accepters: [Int32: Int] = [:]
    private var waiters: [Int32: Int] = [:]
    /// The entries of each epoll set by inode. `hasUnreadSets` says whether a set could not be read.
    private(set) var sets: [Int32: [UInt64: HostProcess.PollEntry]] = [:]
    private(set) var hasUnreadSets = false
    /// The sets that contain a set, and whether they do so edge-triggered.
    private var outer: [Int32: [Int32: Bool]] = [:]
    /// How long no thread has run, or `nil` if that is not known for every thread.
    let leastIdle: Duration?

    init(_ process: HostProcess) {
        self.process = process
        let idle = process.threads.map(\.idle)
        leastIdle = idle.contains(nil) ? nil : idle.compactMap { $0 }.min()
        for (index, thread) in process.threads.enumerated() {
            guard let call = thread.call else { continue }
            for descriptor in call.reads { readers[descriptor] = index }
            for descriptor in call.writes where writers[descriptor] == nil || call.kind == .write {
                writers[descriptor] = index
            }
            for descriptor in call.accepts { accepters[descriptor] = index }
            if let set = call.pollSet { waiters[set] = index }
        }
        for (set, entries) in process.pollSets {
            guard let entries else {
                hasUnreadSets = true
                continue
            }
            sets[set] = Dictionary(entries.map { ($0.inode, $0) }) { first, _ in first }
            for entry in entries where entry.descriptor != set && process.pollSets.keys.contains(entry.descriptor) {
                outer[entry.descriptor, default: [:]][set] = entry.isEdgeTriggered
            }
        }
    }

    func reader(of descriptor: Int32) -> HostThread? { readers[descriptor].map { process.threads[$0] } }
    func writer(to descriptor: Int32) -> HostThread? { writers[descriptor].map { process.threads[$0] } }
    func accepter(on descriptor: Int32) -> HostThread? { accepters[descriptor].map { process.threads[$0] } }

    /// Returns a thread that waits in this set or in one that contains it, and whether an edge-triggered entry is in
    /// between.
    func waiter(in set: Int32) -> (thread: HostThread, isEdge: Bool)? {
        var found: (HostThread, Bool)?
        var queue = [(set, false)], seen: Set<Int32> = []
        while let (current, isEdge) = queue.popLast() {
            guard seen.insert(current).inserted else { continue }
            if let index = waiters[current] ?? readers[current] {
                if !isEdge { return (process.threads[index], false) }
                found = (process.threads[index], true)
            }
            for (next, edge) in outer[current] ?? [:] { queue.append((next, isEdge || edge)) }
        }
        return found
    }

    var running: HostThread? { process.threads.first(where: \.isRunning) }

    /// Returns the sets that contain this socket, with its entries.
    func entries(of inode: UInt64) -> [(set: Int32, entry: HostProcess.PollEntry)] {
        sets.compactMap { set, entries in entries[inode].map { (set, $0) } }.sorted { $0.set < $1.set }
    }

    /// The first thread, which has the number of its process.
    var main: HostThread? {
        process.threads.first { $0.number == process.id.number } ?? process.threads.first
    }

    /// Whether it is known what each thread waits for. A call in no table may wait for anything, and a thread that has
    /// ended waits for nothing.
    var showsCalls: Bool {
        process.rung == .arguments
            && process.threads.allSatisfy { thread in
                let isOver = thread.state == UInt8(ascii: "Z") || thread.state == UInt8(ascii: "X")
                return isOver || thread.call.map { !$0.name.hasPrefix("system call ") } ?? false
            }
    }

    func threads(waiting kinds: Set<HostWait>) -> Int { process.threads.count { kinds.contains(HostWait($0)) } }

    /// The reason why none of its threads can run, or `nil` if one may.
    var halt: String? {
        if process.threads.contains(where: \.isTraced) { return "in a debugger" }
        if process.threads.contains(where: \.isStopped) { return "stopped by a signal" }
        return process.isFrozen ? "in a frozen cgroup" : nil
    }
}

extension HostThread {
    /// Whether it is on a CPU, or is waiting for one.
    var isRunning: Bool { call?.kind == .running || state == UInt8(ascii: "R") }
}

/// The kind of wait, from the kernel function in which a thread sleeps. A guess, used if its call can't be read.
enum HostWait: Equatable, Sendable {
    case receiveOrSend, receive, send, accept, poll, pollSet, other

    /// The names of kernel functions change. These are from Linux 5.4 to 6.18.
    private static let channels: [String: HostWait] = [
        "wait_woken": .receiveOrSend, "inet_csk_accept": .accept, "ep_poll": .pollSet, "do_epoll_wait": .pollSet,
        "poll_schedule_timeout": .poll, "do_poll": .poll, "do_sys_poll": .poll, "do_select": .poll,
        "unix_stream_read_generic": .receive, "unix_stream_data_wait": .receive,
        "__skb_wait_for_more_packets": .receive, "sock_alloc_send_pskb": .send, "unix_wait_for_peer": .send,
        "sk_stream_wait_memory": .send, "sk_wait_data": .receive,
    ]

    init(_ thread: HostThread) { self = Self.channels[thread.waitChannel] ?? .other }

    var words: String? {
        switch self {
        case .receiveOrSend: "recv or send"
        case .receive: "recv"
        case .send: "send"
        case .accept: "accept"
        case .poll: "poll"
        case .pollSet: "epoll"
        case .other: nil
        }
    }
}
