import Glibc
import SocketKit

/// The simulated machine and its network: descriptors of the engine, connections, and what is under way between them.
///
/// Nothing happens here by itself. The engine's calls come through `SimulatedKernel` and `SimulatedReactor`; all else
/// (arrival, answers to a connect, what peers do) is asked for by the run, as its seed says.
struct Network {
    /// What a descriptor is.
    enum Role {
        case fresh
        case listening(port: UInt16, backlog: Int, waiting: [Int])
        /// SYN is out; nobody has answered yet.
        case connecting(to: SocketAddress)
        /// The connect failed; SO_ERROR says so once.
        case refused(Int32)
        case stream(link: Int, end: Int)
        case mailbox(Mailbox)
    }

    /// An open descriptor, and how the reactor watches it.
    struct Descriptor {
        var role = Role.fresh
        var bound: SocketAddress?
        var resetsOnClose = false
        var watch: Watch?
    }

    /// An entry of the reactor's set.
    struct Watch {
        var interest: Interest
        var token: ReactorToken
        /// Which reactor's set that is.
        var reactor: Int
    }

    /// The engine's own machine.
    static let host = "10.0.0.1"
    /// The first port that the machine hands out; the connection's index is added to it.
    static let firstPort: UInt16 = 20_000

    let chance: Chance
    let findings: Findings
    /// Descriptors by their numbers, from 3 on; nil: not open. The lowest free number is given out, as on Linux.
    var descriptors: [Descriptor?] = []
    var links: [Link] = []
    /// By the ports that were listened on, the ports of the connections that the engine took there.
    var accepted: [UInt16: [UInt16]] = [:]
    /// Files of Unix-domain sockets on which nobody listens any more.
    var socketFiles: Set<String> = []
    /// Whether calls may fail for no reason of their own.
    var isFaulty = true
    /// Calls, arrivals and answers so far.
    var events = 0
    /// Grows with whatever brings the world forward; a turn that leaves it alone did nothing.
    var progress = 0

    init(chance: Chance, findings: Findings) {
        self.chance = chance
        self.findings = findings
    }

    // MARK: Descriptors

    mutating func open() -> Int32 {
        let index = descriptors.firstIndex { $0 == nil } ?? descriptors.count
        if index == descriptors.count { descriptors.append(nil) }
        descriptors[index] = Descriptor()
        return Int32(index + 3)
    }

    /// Numbers of all open descriptors.
    var openDescriptors: [Int32] {
        descriptors.indices.filter { descriptors[$0] != nil }.map { Int32($0 + 3) }
    }

    subscript(number: Int32) -> Descriptor? {
        get { descriptors.indices.contains(Int(number) - 3) ? descriptors[Int(number) - 3] : nil }
        set {
            guard descriptors.indices.contains(Int(number) - 3) else { return }
            descriptors[Int(number) - 3] = newValue
        }
    }

    /// The role of a descriptor; one that is not open is a fault of the engine.
    mutating func role(_ number: Int32, in call: StaticString) -> Role {
        events += 1
        guard let descriptor = self[number] else {
            findings.report(.badDescriptor, "\(call) of \(number), which is not open")
            return .fresh
        }
        return descriptor.role
    }

    mutating func close(_ number: Int32) {
        let role = role(number, in: "close")
        progress += 1
        switch role {
        case .stream(let link, let end):
            links[link].close(end, resets: self[number]?.resetsOnClose ?? false)
        case .listening(_, _, let waiting):
            for link in waiting { links[link].close(1, resets: true) }
        case .fresh, .connecting, .refused, .mailbox: break
        }
        self[number] = nil
    }

    /// Whether a call fails for no reason of its own; true once in so many times.
    mutating func fails(oneIn odds: Int) -> Bool {
        guard isFaulty, chance.oneIn(odds) else { return false }
        progress += 1
        return true
    }

    // MARK: Connections

    /// The descriptor that listens on this port of the engine's machine.
    func listener(on port: UInt16) -> Int32? {
        openDescriptors.first {
            if case .listening(let own, _, _) = self[$0]?.role { own == port } else { false }
        }
    }

    /// Makes a connection; both ends are held by nobody yet.
    mutating func makeLink(server: SocketAddress, peerEnd: Int?) -> Int {
        let capacities = (0..<4).map { _ in chance.oneIn(3) ? chance.within(8...64) : chance.within(256...4_096) }
        links.append(Link(server: server, peerEnd: peerEnd, capacities: capacities))
        return links.count - 1
    }

    /// A descriptor that is connected to a peer, as one that a program got from elsewhere.
    mutating func openConnected() -> Int32 {
        let descriptor = open()
        let link = makeLink(server: .v4(host: "192.0.2.1", port: 9), peerEnd: 1)
        self[descriptor]?.role = .stream(link: link, end: 0)
        return descriptor
    }

    /// Puts a new connection into a listener's backlog; nil when there is no room.
    mutating func enter(_ listener: Int32, peerEnd: Int?) -> Int? {
        guard case .listening(let own, let backlog, let waiting) = self[listener]?.role, waiting.count < backlog else {
            return nil
        }
        let link = makeLink(server: .v4(host: Self.host, port: own), peerEnd: peerEnd)
        self[listener]?.role = .listening(port: own, backlog: backlog, waiting: waiting + [link])
        events += 1
        return link
    }

    /// Our address of a connection's end; the port of the connecting side tells connections apart.
    func address(of end: Int, _ link: Int) -> SocketAddress {
        end == 0 ? .v4(host: Self.host, port: Self.firstPort + UInt16(link)) : links[link].server
    }

    /// The connection that a port of the connecting side belongs to.
    func link(ofPort port: UInt16?) -> Int? {
        guard let port, port >= Self.firstPort, Int(port - Self.firstPort) < links.count else { return nil }
        return Int(port - Self.firstPort)
    }
}
