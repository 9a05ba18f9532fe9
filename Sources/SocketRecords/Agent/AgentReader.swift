import SocketCore

/// Reads what an agent writes, whatever that is: the beginning is searched for, the order is enforced, and everything has
/// a limit. After an error nothing more can be read.
package struct AgentReader: Sendable {
    /// What an agent has said.
    package enum News: Equatable, Sendable {
        case hello(AgentHello)
        case update(HostUpdate)
        /// The agent ends, and says why.
        case bye(String)
    }

    private var decoder = InspectionFrameDecoder()
    /// The bytes before the preamble, while that has not come.
    private var noise: [UInt8]? = []
    private var isGreeted = false
    private var update: HostUpdate?
    /// The bytes of the look so far.
    private var size = 0
    /// The threads, descriptors and entries of epoll sets of the look so far.
    private var details = 0
    /// The arrivals of the last looks.
    private var arrivals: [MonotonicTime] = []

    /// The most bytes before the preamble.
    package static let mostNoise = 64 << 10
    private static let mostBytes = 64 << 20
    /// A program with 30,000 connections is one frame of more than 1 MiB.
    private static let largestFrame = 4 << 20
    private static let mostPrograms = 4_096
    /// The most threads, descriptors and entries of epoll sets of a look.
    private static let mostDetails = 1 << 20
    private static let mostSockets = 131_072
    private static let mostLooks = 10
    private static let longestName = 256

    package init() {}

    /// Whether the preamble has come.
    package var hasBegun: Bool { noise == nil }
    /// Whether bytes are left that are not a whole frame.
    package var isTorn: Bool { decoder.pending > 0 || update != nil }

    /// Takes bytes as they arrive. Returns what they complete.
    package mutating func take(_ bytes: [UInt8], at time: MonotonicTime) throws(WireError) -> [News] {
        if noise == nil {
            decoder.append(bytes)
        } else {
            guard try skipNoise(bytes) else { return [] }
        }
        var news: [News] = []
        while let body = try decoder.nextBody(limit: Self.largestFrame) {
            size += body.count
            guard size <= Self.mostBytes else { throw .malformed("a look has more than \(Self.mostBytes >> 20) MiB") }
            do throws(WireError) {
                if let one = try take(try AgentFrame.read(body), at: time) { news.append(one) }
            } catch {
                guard error == .unknown else { throw error }
            }
        }
        return news
    }

    /// Returns whether the preamble has come, whose rest is then decoded.
    private mutating func skipNoise(_ bytes: [UInt8]) throws(WireError) -> Bool {
        let preamble = AgentFrame.preamble
        var all = (noise ?? []) + bytes
        var start = all.startIndex
        while let place = all[start...].firstIndex(of: 0) {
            let rest = all[place...]
            if rest.count < preamble.count, preamble.starts(with: rest) { break }
            if rest.starts(with: preamble) {
                noise = nil
                decoder.append(all[(place + preamble.count)...])
                return true
            }
            start = place + 1
        }
        guard all.count <= Self.mostNoise else {
            throw .malformed("\(Self.mostNoise >> 10) KiB of something else came instead of an agent's beginning")
        }
        swap(&all, &noise!)
        return false
    }

    private mutating func take(_ frame: AgentFrame, at time: MonotonicTime) throws(WireError) -> News? {
        if case .hello(let hello) = frame {
            guard !isGreeted else { throw .malformed("the agent introduced itself twice") }
            isGreeted = true
            return .hello(hello)
        }
        guard isGreeted else { throw .malformed("the agent did not introduce itself") }
        switch frame {
        case .look(let look): try begin(look)
        case .sockets(let list): try absorb { $0.told += list }
        case .owners(let list): try absorb { $0.add(list) }
        case .programs(let list):
            details += list.reduce(0) { $0 + Self.details(of: $1) }
            guard details <= Self.mostDetails else { throw .malformed("a look tells too much of programs") }
            try absorb { $0.processes += list.map(Self.plausible) }
        case .closings(let list): try absorb { $0.closings += list }
        case .lookEnd(let end): return .update(try finish(end, at: time))
        case .bye(let sentence): return .bye(String(sentence.prefix(Self.longestName)))
        case .ask: throw .malformed("the agent asks")
        case .hello, .unknown: break
        }
        return nil
    }

    private mutating func begin(_ look: AgentLook) throws(WireError) {
        guard update == nil else { throw .malformed("a look begins within another") }
        guard look.namespaces.count <= HostOrdinal.most else { throw .malformed("a look has too many namespaces") }
        update = HostUpdate(look)
        update?.namespaces = look.namespaces.map { namespace in
            var namespace = namespace
            namespace.name = namespace.name.map { String($0.prefix(Self.longestName)) }
            return namespace
        }
    }

    private mutating func absorb(_ body: (inout HostUpdate) -> Void) throws(WireError) {
        guard update != nil else { throw .malformed("a list comes outside of a look") }
        body(&update!)
        guard update!.told.count <= Self.mostSockets, update!.closings.count <= Self.mostSockets,
            update!.owners.count <= Self.mostSockets, update!.processes.count <= Self.mostPrograms
        else { throw .malformed("a look lists more sockets or programs than a host may have here") }
    }

    private mutating func finish(_ end: AgentLookEnd, at time: MonotonicTime) throws(WireError) -> HostUpdate {
        guard var whole = update, whole.number == end.number else {
            throw .malformed("a look ends that did not begin")
        }
        arrivals.removeAll { time - $0 >= .seconds(1) }
        arrivals.append(time)
        guard arrivals.count <= Self.mostLooks else {
            throw .malformed("more than \(Self.mostLooks) looks arrived within a second")
        }
        whole.sent = end.sent
        (update, size, details) = (nil, 0, 0)
        return whole
    }

    private static func details(of process: HostProcess) -> Int {
        process.pollSets.values.reduce(process.threads.count + process.sockets.count) { $0 + ($1?.count ?? 0) }
    }

    /// Cuts the names of a process.
    private static func plausible(_ told: HostProcess) -> HostProcess {
        var process = told
        process.name = String(told.name.prefix(longestName))
        process.command = String(told.command.prefix(longestName))
        process.executable = told.executable.map { String($0.prefix(longestName)) }
        process.parentExecutable = told.parentExecutable.map { String($0.prefix(longestName)) }
        process.cgroup = told.cgroup.map { String($0.prefix(longestName * 4)) }
        process.threads = told.threads.map { told in
            var thread = told
            thread.name = String(told.name.prefix(longestName))
            thread.waitChannel = String(told.waitChannel.prefix(longestName))
            if let call = told.call { thread.call?.name = String(call.name.prefix(longestName)) }
            return thread
        }
        return process
    }
}

/// Reads what a viewer asks an agent for.
package struct AgentAskReader: Sendable {
    private var decoder = InspectionFrameDecoder()
    private var arrivals: [MonotonicTime] = []

    private static let largestFrame = 64 << 10
    private static let mostFrames = 10

    package init() {}

    /// Takes bytes as they arrive. Returns the last question that they complete, if any.
    package mutating func take(_ bytes: [UInt8], at time: MonotonicTime) throws(WireError) -> AgentAsk? {
        decoder.append(bytes)
        var last: AgentAsk?
        while let body = try decoder.nextBody(limit: Self.largestFrame) {
            arrivals.removeAll { time - $0 >= .seconds(1) }
            arrivals.append(time)
            guard arrivals.count <= Self.mostFrames else {
                throw .malformed("more than \(Self.mostFrames) frames arrived within a second")
            }
            switch try AgentFrame.read(body) {
            case .ask(let ask): last = ask.limited
            case .unknown: break
            default: throw .malformed("a viewer may only ask")
            }
        }
        return last
    }
}
