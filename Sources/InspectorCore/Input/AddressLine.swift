import SocketCore
import SocketWorkshop

/// What a user typed in an address field: `host:port`, `[::1]:port`, `unix:/path`, `udp://host:port`, `listen :8080`,
/// `relay :9000 host:80`, `attach 4242`, `host`, `demo`.
package enum AddressLine: Equatable, Sendable {
    case connect(OpenTarget)
    case listen(OpenTarget)
    case relay(RelayRequest)
    case attach(String)
    case host
    case demo

    /// A sentence that says what is wrong.
    package struct Failure: Error, Equatable, Sendable {
        package var message: String
    }

    /// Parses the line. If `listens` is set, a plain address is one to listen on.
    package static func parse(_ text: String, listens: Bool = false) -> Result<AddressLine, Failure> {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let first = words.first else {
            return .failure(Failure(message: "type an address such as localhost:8080"))
        }
        if words == ["demo"] { return .success(.demo) }
        if words == ["host"] { return .success(.host) }
        switch first {
        case "attach": return attach(words.dropFirst())
        case "relay": return relay(Array(words.dropFirst()))
        case "listen": return endpoint(words.dropFirst(), listens: true)
        case "connect": return endpoint(words.dropFirst(), listens: false)
        case _ where words.count > 1 && Self.ofShell.contains(first):
            return .failure(Failure(message: "\(first) works only in the shell; quit, and run socktui \(text)"))
        default: return endpoint(words[...], listens: listens)
        }
    }

    /// The commands that only the command line has. A host of such a name is reached by `NAME:PORT`.
    package static let ofShell: Set<String> = [
        "agent", "why", "capture", "run", "open", "export", "replay", "sweep", "ctl", "mcp", "config", "completions",
        "help",
    ]

    /// Parses a process number, a program's name or a path.
    private static func attach(_ words: ArraySlice<String>) -> Result<AddressLine, Failure> {
        guard let word = words.first, words.count == 1 else {
            return .failure(Failure(message: "name a program, as in attach 4242"))
        }
        return .success(.attach(word))
    }

    /// Parses the listening address and the target, or `--socks5` or `--http-proxy` and one address.
    private static func relay(_ words: [String]) -> Result<AddressLine, Failure> {
        let proxies: [String: ProxyKind] = ["--socks5": .socks5, "--http-proxy": .http]
        guard words.count == 2 else {
            return .failure(Failure(message: "write where to listen and where to connect, as in relay :9000 host:80"))
        }
        do throws(EndpointError) {
            if let kind = proxies[words[0]] {
                return .success(.relay(try RelayRequest.parse(words[1], by: kind, TLSChoices())))
            }
            return .success(.relay(try RelayRequest.parse(words[0], to: words[1], TLSChoices())))
        } catch {
            return .failure(Failure(message: error.description))
        }
    }

    /// Parses an address in one word, or a host and a port as nc accepts them.
    private static func endpoint(_ words: ArraySlice<String>, listens: Bool) -> Result<AddressLine, Failure> {
        guard let first = words.first, let last = words.last else {
            return .failure(Failure(message: "an address is missing"))
        }
        guard words.count <= 2 else { return .failure(Failure(message: "too many words for an address")) }
        let scheme = OpenTarget.Scheme(of: first) == .tls ? OpenTarget.Scheme.tls : nil
        let host = scheme?.rest(of: first) ?? first
        let bracketed = host.contains(":") ? "[\(host)]" : host
        let text = words.count == 2 ? (scheme?.rawValue ?? "") + "\(bracketed):\(last)" : first
        do throws(EndpointError) {
            let target = try OpenTarget.parse(text, listens: listens)
            return .success(listens ? .listen(target) : .connect(target))
        } catch {
            return .failure(Failure(message: error.description))
        }
    }
}

/// A typed duration: `30s`, `500ms`, `2m`, `1h`, `10` (seconds). An empty text, `-` or `none` means none.
package enum DurationText {
    /// Returns the duration, `.some(nil)` for none, or `nil` if the text is not a duration.
    package static func parse(_ text: String) -> Duration?? {
        let text = text.filter { !$0.isWhitespace }
        if ["", "-", "none"].contains(text) { return .some(nil) }
        let units: [(String, Int64)] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)]
        for (unit, scale) in units where text.hasSuffix(unit) {
            return milliseconds(String(text.dropLast(unit.count)), scale)
        }
        return milliseconds(text, 1000)
    }

    private static func milliseconds(_ text: String, _ scale: Int64) -> Duration?? {
        guard let number = Double(text), number.isFinite, number > 0, number * Double(scale) < 1e13 else { return nil }
        return .some(.milliseconds(Int64(number * Double(scale) + 0.5)))
    }
}
