import SocketCore

/// The subject of `socktui why`: a process, the programs of a name, a port or an address.
package enum HostTarget: Equatable, Sendable {
    case process(Int32)
    case name(String)
    case port(UInt16)
    case address(SocketAddress)
    /// Datagram sockets at a port or an address.
    indirect case datagrams(HostTarget)

    package struct Problem: Error, Equatable, Sendable {
        package var sentence: String
    }

    package static let forms = "a PID, a program's name, :port, host:port, udp://:port or a path"

    /// Parses `4711`, `nginx`, `:9000`, `127.0.0.1:9000`, `[::1]:9000`, `udp://:53`, `/run/x.sock`, `unix:/run/x.sock`
    /// or `unix:@name`. Host names are not resolved.
    package static func parse(_ text: String) throws(Problem) -> HostTarget {
        func refuse(_ why: String) -> Problem { Problem(sentence: "\(text): \(why); write \(forms)") }
        if text.isEmpty { throw Problem(sentence: "why: name what hangs: \(forms)") }
        if text.allSatisfy(\.isNumber) {
            guard let number = Int32(text), number > 0 else { throw refuse("is not a PID") }
            return .process(number)
        }
        if text.hasPrefix("udp://") {
            let target = try parse(String(text.dropFirst(6)))
            switch target {
            case .port, .address: return .datagrams(target)
            case .process, .name, .datagrams: throw refuse("has no port")
            }
        }
        if text.hasPrefix("tcp://") { return try parse(String(text.dropFirst(6))) }
        if text.hasPrefix("/") { return .address(.unix(path: text)) }
        if text.hasPrefix("unix:@") { return .address(.abstract(name: String(text.dropFirst(6)))) }
        if text.hasPrefix("unix:") { return .address(.unix(path: String(text.dropFirst(5)))) }
        guard let colon = text.lastIndex(of: ":") else { return .name(text) }
        guard let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            throw refuse("has no port from 1 to 65535")
        }
        let host = String(text[..<colon].filter { $0 != "[" && $0 != "]" })
        if host.isEmpty || host == "localhost" { return .port(port) }
        let address: SocketAddress = host.contains(":") ? .v6(host: host, port: port) : .v4(host: host, port: port)
        if case .text = address.storage { throw refuse("is not a numeric address") }
        return .address(address)
    }

    /// Whether a socket matches. Sockets of a process or a name are found by their owner instead.
    package func matches(_ socket: HostSocket) -> Bool {
        switch self {
        case .process, .name: false
        case .port(let port): socket.local?.port == port || socket.peer?.port == port
        case .address(let address): socket.local == address || socket.peer == address
        case .datagrams(let target): socket.transport == .udp && target.matches(socket)
        }
    }
}

extension HostTarget: CustomStringConvertible {
    package var description: String {
        switch self {
        case .process(let number): "process \(number)"
        case .name(let name): name
        case .port(let port): ":\(port)"
        case .address(let address): address.description
        case .datagrams(let target): "udp://\(target)"
        }
    }
}
