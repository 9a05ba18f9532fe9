import SocketCore
import SocketWorkshop

/// A program to run through its own relay.
package struct RunRequest: Equatable, Sendable {
    /// How the program's connections come to the relay.
    package enum Via: String, Equatable, Sendable, CaseIterable {
        /// Each connect is taken as the program makes it. It is offered no proxy.
        case connect
        /// An HTTP proxy for everything.
        case http
        /// A SOCKS 5 proxy for everything, which many programs do not support.
        case socks
        /// HTTP for `http://` and `https://`, SOCKS 5 for everything else.
        case both

        package var kinds: [ProxyKind] {
            switch self {
            case .connect: []
            case .http: [.http]
            case .socks: [.socks5]
            case .both: [.http, .socks5]
            }
        }
    }

    /// The program, by its name or path, and its arguments.
    package var arguments: [String]
    package var via: Via
    /// The file for its standard input, `-` for this program's own, or `nil` for that unless it is a terminal.
    package var input: String?
    /// Whether it gets a terminal of its own, which the screen shows, instead of an input and an output.
    package var hasTerminal = false
    /// Whether its system calls on sockets are shown.
    package var showsCalls = false
    /// The time limit for a connect by the relay, or `nil` for the system's.
    package var timeout: Duration?

    package init(_ arguments: [String], via: Via = .connect, input: String? = nil, timeout: Duration? = nil) {
        (self.arguments, self.via, self.input, self.timeout) = (arguments, via, input, timeout)
    }

    /// The program's name, without its folder.
    package var name: String {
        let path = arguments.first ?? ""
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Returns the relay for proxies of a kind. It listens on loopback, on a port that the kernel chooses.
    package func relay(_ kind: ProxyKind) -> RelayRequest {
        RelayRequest(listen: .tcp(host: "127.0.0.1", port: 0), target: .proxy(kind), timeout: timeout)
    }

    /// The variables that name proxies, in both spellings that programs use.
    package static let variables = ["http_proxy", "https_proxy", "all_proxy"].flatMap { [$0, $0.uppercased()] }
    private static let exceptions = ["no_proxy", "NO_PROXY"]

    /// Returns the program's environment, as `NAME=VALUE`. It is this program's own. If proxies are offered, they are
    /// replaced by those at these addresses, without exceptions from proxying. A terminal of the program's own is a dumb
    /// one, whose size it asks for.
    package func environment(_ own: [String], proxies: [ProxyKind: String]) -> [String] {
        guard hasTerminal else { return environment(proxied: own, proxies) }
        return environment(proxied: Self.environment(own, without: ["TERM", "LINES", "COLUMNS"]), proxies)
            + ["TERM=dumb"]
    }

    private static func environment(_ own: [String], without names: Set<String>) -> [String] {
        own.filter { !names.contains(String($0.unicodeScalars.prefix { $0 != "=" })) }
    }

    private func environment(proxied own: [String], _ proxies: [ProxyKind: String]) -> [String] {
        guard via != .connect else { return own }
        let kept = Self.environment(own, without: Set(Self.variables + Self.exceptions))
        let first = via == .socks ? ProxyKind.socks5 : .http
        let rest = via == .http ? ProxyKind.http : .socks5
        let set = Self.variables.compactMap { name -> String? in
            let kind = name.lowercased() == "all_proxy" ? rest : first
            return proxies[kind].map { "\(name)=\(kind == .http ? "http" : "socks5h")://\($0)" }
        }
        return kept + set + Self.exceptions.map { $0 + "=" }
    }
}
