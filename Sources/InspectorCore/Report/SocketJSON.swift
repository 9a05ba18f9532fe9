import SocketCore
import SocketRecords

/// Sockets as JSON objects. Every name is always present, with null if the value is unknown or meaningless. Times are
/// wall-clock times (RFC 3339, UTC). A number with a unit has the unit in its name.
package struct SocketJSON {
    /// Converts the engine's instants to wall-clock times.
    package let clock: WallClock

    package init(clock: WallClock) { self.clock = clock }

    /// Returns everything known about a session. `end` is the other end of its connection, if that is on this host.
    package func members(_ socket: SocketSnapshot, end: PeerEnd? = nil) -> [JSON.Member] {
        members(FactTeller(socket, of: socket, end))
    }

    /// Returns `2026-11-21T14:02:10.911204000Z`, or null before the clock is known.
    package func time(_ time: MonotonicTime?) -> JSON {
        JSON(time.flatMap { clock.wallNanoseconds($0) }.map(Format.instant))
    }

    /// Returns what was told.
    func members(_ teller: FactTeller) -> [JSON.Member] {
        teller.facts.map { JSON.Member($0.name, json($0.value, isInMilliseconds: $0.name.hasSuffix("_ms"), teller)) }
    }

    private func json(_ value: FactValue, isInMilliseconds: Bool, _ teller: FactTeller) -> JSON {
        switch value {
        case .none: .null
        case .flag(let isTrue): .bool(isTrue)
        case .integer(let number): .integer(number)
        case .number(let number): .number(number)
        case .text(let text): .string(text)
        case .bytes(let bytes): JSON(bytes: bytes)
        case .time(let time): self.time(time)
        case .span(let span): isInMilliseconds ? JSON(milliseconds: span) : JSON(seconds: span)
        case .list(let values): .array(values.map { json($0, isInMilliseconds: isInMilliseconds, teller) })
        case .facts(let message): .object(members(FactTeller(message, of: teller.socket)))
        }
    }
}
