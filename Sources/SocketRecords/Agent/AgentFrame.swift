import SocketCore

/// One message between an agent and the viewer that started it, framed as on the inspection wire.
package enum AgentFrame: Equatable, Sendable {
    /// The agent's identity. The first frame.
    case hello(AgentHello)
    /// The beginning of a look.
    case look(AgentLook)
    case sockets([HostSocket])
    case owners([AgentOwners])
    case programs([HostProcess])
    case closings([HostSocket])
    /// The end of a look, with the time at which it was sent. Only now the judge sees it.
    case lookEnd(AgentLookEnd)
    /// What the viewer asks for.
    case ask(AgentAsk)
    /// Why the agent ends, as a sentence.
    case bye(String)
    /// A kind that this version doesn't know, to be skipped.
    case unknown(UInt8)

    /// The kinds by their numbers on the wire.
    package enum Kind: UInt8, CaseIterable, Sendable {
        case hello = 1
        case look = 20
        case sockets = 21
        case owners = 22
        case programs = 23
        case closings = 24
        case lookEnd = 25
        case ask = 32
        case bye = 33
    }

    /// What an agent writes first, so that what a shell prints before is told apart.
    package static let preamble: [UInt8] = [0] + Array("socktui-agent\n".utf8)

    /// The whole frame, or empty for `unknown`.
    package var bytes: [UInt8] {
        switch self {
        case .hello(let hello): Self.frame(.hello, hello)
        case .look(let look): Self.frame(.look, look)
        case .sockets(let sockets): Self.frame(.sockets, InspectionList(values: sockets))
        case .owners(let owners): Self.frame(.owners, InspectionList(values: owners))
        case .programs(let programs): Self.frame(.programs, InspectionList(values: programs))
        case .closings(let sockets): Self.frame(.closings, InspectionList(values: sockets))
        case .lookEnd(let end): Self.frame(.lookEnd, end)
        case .ask(let ask): Self.frame(.ask, ask)
        case .bye(let sentence): Self.frame(.bye, InspectionText(sentence))
        case .unknown: []
        }
    }

    private static func frame(_ kind: Kind, _ message: some WireMessage) -> [UInt8] {
        InspectionFrame.bytes(kind.rawValue, message.encoded)
    }

    /// Reads what follows a frame's length.
    package static func read(_ body: ArraySlice<UInt8>) throws(WireError) -> AgentFrame {
        guard let first = body.first else { throw .malformed("a frame is empty") }
        guard let kind = Kind(rawValue: first) else { return .unknown(first) }
        let content = body.dropFirst()
        switch kind {
        case .hello: return .hello(try WireReader.message(content))
        case .look: return .look(try WireReader.message(content))
        case .sockets: return .sockets(try (WireReader.message(content) as InspectionList<HostSocket>).values)
        case .owners: return .owners(try (WireReader.message(content) as InspectionList<AgentOwners>).values)
        case .programs: return .programs(try (WireReader.message(content) as InspectionList<HostProcess>).values)
        case .closings: return .closings(try (WireReader.message(content) as InspectionList<HostSocket>).values)
        case .lookEnd: return .lookEnd(try WireReader.message(content))
        case .ask: return .ask(try WireReader.message(content))
        case .bye: return .bye(try (WireReader.message(content) as InspectionText).text)
        }
    }
}

/// The identity of an agent, and its version of the wire.
package struct AgentHello: WireMessage, Sendable {
    package var magic = AgentHello.magicWord
    package var major = AgentHello.version
    package var minor: UInt64 = 0
    /// The version of the program.
    package var program = ""
    package var process: Int32 = 0
    /// The kernel's boot ID: agents with the same one run under one kernel.
    package var boot = ""
    /// The inode of the agent's network namespace.
    package var namespace: UInt64 = 0
    /// The machine's name, by its own claim.
    package var machine = ""
    /// The time by its clock.
    package var time = MonotonicTime.zero

    package static let magicWord = "socktui-agent"
    package static let version: UInt64 = 1

    package init() {}

    package static var blank: AgentHello {
        var hello = AgentHello()
        (hello.magic, hello.major) = ("", 0)
        return hello
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &magic)
        try coder.field(2, &major)
        try coder.field(3, &minor)
        try coder.field(4, &program)
        try coder.field(5, &process)
        try coder.field(6, &boot)
        try coder.field(7, &namespace)
        try coder.field(8, &machine)
        try coder.field(9, &time)
    }

    /// Why it can't be understood, or `nil` if it can.
    package var refusal: String? {
        guard magic == Self.magicWord else { return "does not speak the protocol of agents" }
        guard major == Self.version else {
            return "has an agent that speaks version \(major) of its protocol, and this socktui version "
                + "\(Self.version); both sides need the same"
        }
        return nil
    }
}
