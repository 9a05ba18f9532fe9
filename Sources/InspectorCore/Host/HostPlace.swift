import SocketCore

/// A host, as an operand of the command line names it: `@web1`, `@user@web1`, or `@.` for this one.
package struct HostPlace: Hashable, Sendable {
    /// What follows the `@`.
    package var name: String
    /// The command that starts its agent, word by word, or `nil` to use ssh.
    package var through: [String]?

    package init(name: String, through: [String]? = nil) { (self.name, self.through) = (name, through) }

    /// Whether it is the host that this program runs on.
    package var isHere: Bool { name == "." && through == nil }

    /// What asks the agent of a host, which ends the command that starts it.
    package static let agent = "agent"

    /// The command that starts its agent. `own` is the path of this program.
    package func command(own: String) -> [String] {
        if isHere { return [own, Self.agent] }
        if let through { return through.last == Self.agent ? through : through + ["socktui", Self.agent] }
        return Self.ssh + [name, "exec socktui agent"]
    }

    /// ssh must ask nothing, forward nothing and notice that the other side is gone. All else is in ssh_config(5).
    private static let ssh =
        ["ssh", "-T"]
        + [
            "BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3",
            "ClearAllForwardings=yes", "ForwardAgent=no", "RemoteCommand=none",
        ].flatMap { ["-o", $0] } + ["--"]

    /// What precedes a command that the user types to run it there, or empty if it runs here.
    package var prefix: String {
        guard !isHere else { return "" }
        guard let through else { return "ssh \(name)" }
        return (through.last == Self.agent ? Array(through.dropLast(2)) : through).joined(separator: " ")
    }

    /// Whether a text is a host's name: letters, digits, `.`, `_` and `-`, but not `-` first, after a user's if there is
    /// one.
    package static func isName(_ text: some StringProtocol) -> Bool {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.allSatisfy { part in
            part.first != "-" && !part.isEmpty
                && part.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                        UInt8(ascii: "-"):
                        true
                    default: false
                    }
                }
        }
    }
}

/// What `why` is asked about on one of several hosts.
package struct HostQuestion: Equatable, Sendable {
    package var place: HostPlace
    package var target: HostTarget

    package init(place: HostPlace, target: HostTarget) { (self.place, self.target) = (place, target) }

    /// Splits an operand such as `@web1`, `@web1:9000`, `@web1/4711` or `@web1/nginx` into the host and what is meant
    /// there, if anything is.
    package static func parse(
        _ text: String
    ) throws(HostTarget.Problem) -> (place: HostPlace, target: HostTarget?) {
        let body = text.dropFirst()
        let end = body.firstIndex { $0 == ":" || $0 == "/" } ?? body.endIndex
        let (name, rest) = (body[..<end], body[end...])
        guard text.first == "@", HostPlace.isName(name) else {
            throw HostTarget.Problem(
                sentence: "\(text): is not a host; write @NAME, @USER@NAME, or @. for this host")
        }
        let place = HostPlace(name: String(name))
        guard !rest.isEmpty else { return (place, nil) }
        let target = try HostTarget.parse(String(rest.first == "/" ? rest.dropFirst() : rest))
        switch target {
        case .process, .name, .port: return (place, target)
        case .address, .datagrams:
            throw HostTarget.Problem(sentence: "\(text): write @\(name):PORT, @\(name)/PID or @\(name)/NAME")
        }
    }
}
