import SocketCore
import SocketWorkshop

/// Listeners that are more widely reachable than intended.
extension Lint {
    static let listening: [Lint] = [
        Lint(
            "open-proxy", "a proxy is reachable from other hosts: its clients can connect to anything from this host",
            remedy: "use a loopback address, --socks5 127.0.0.1:1080, or require client certificates", openProxy)
    ]

    private static func openProxy(_ it: Situation, _ after: Duration) -> Verdict? {
        let socket = it.socket
        // A proxy's listener is recognizable by its name, in attached programs too.
        guard socket.role == .listener, let local = socket.local, !local.staysOnHost,
            ProxyKind.allCases.contains(where: { $0.listenerName == socket.name })
        else { return nil }
        return Verdict(
            "\(socket.name) on \(local.isWildcard ? "every interface" : local.description): "
                + "every client that reaches it can connect to anything from this host")
    }
}

extension SocketAddress {
    /// Whether only programs on this host can connect to it.
    package var staysOnHost: Bool {
        guard let host else { return true }
        return host.hasPrefix("127.") || host == "::1" || host.hasPrefix("::ffff:127.")
    }
}
