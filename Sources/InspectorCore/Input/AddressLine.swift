import SocketCore

/// What a person typed where an address is asked for: `host:port`, `[::1]:port`, `unix:/path`, `listen :8080`, `demo`.
package enum AddressLine: Hashable, Sendable {
    case connect(Endpoint)
    case listen(Endpoint)
    case demo

    /// A sentence that names what is wrong.
    package struct Failure: Error, Hashable, Sendable {
        package var message: String
    }

    /// Reads the line.
    package static func parse(_ text: String) -> Result<AddressLine, Failure> {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let first = words.first else {
            return .failure(Failure(message: "type an address such as localhost:8080"))
        }
        if words == ["demo"] { return .success(.demo) }
        switch first {
        case "listen": return endpoint(words.dropFirst()).map { .listen($0) }
        case "connect": return endpoint(words.dropFirst()).map { .connect($0) }
        default: return endpoint(words[...]).map { .connect($0) }
        }
    }

    /// `host:port` or its likes in one word, or a host and a port in two.
    private static func endpoint(_ words: ArraySlice<String>) -> Result<Endpoint, Failure> {
        guard let first = words.first else { return .failure(Failure(message: "an address is missing")) }
        guard words.count <= 2 else { return .failure(Failure(message: "more words than an address has")) }
        if words.count == 2, let port = words.last { return tcp(host: first, port: port, whole: "\(first) \(port)") }
        if first.hasPrefix("unix:@") { return name(String(first.dropFirst(6))).map { .abstract(name: $0) } }
        if first.hasPrefix("unix:") { return name(String(first.dropFirst(5))).map { .unix(path: $0) } }
        guard let colon = first.lastIndex(of: ":") else {
            return .failure(Failure(message: "\(first): a port is missing, as in \(first):80"))
        }
        return tcp(
            host: String(first[..<colon]), port: String(first[first.index(after: colon)...]), whole: first)
    }

    private static func name(_ name: String) -> Result<String, Failure> {
        if name.isEmpty { return .failure(Failure(message: "a path is missing, as in unix:/run/app.sock")) }
        if name.utf8.count > 107 { return .failure(Failure(message: "the path is longer than 107 bytes")) }
        return .success(name)
    }

    private static func tcp(host: String, port: String, whole: String) -> Result<Endpoint, Failure> {
        guard let number = UInt16(port), port.allSatisfy(\.isNumber) else {
            return .failure(
                Failure(
                    message:
                        "\(whole): \(port.isEmpty ? "the port is missing" : "\(port) is no port, which is 0 to 65535")")
            )
        }
        if host.hasPrefix("[") && host.hasSuffix("]") {
            return .success(.tcp(host: String(host.dropFirst().dropLast()), port: number))
        }
        guard !host.contains(":") || whole.contains(" ") else {
            return .failure(Failure(message: "\(whole): an IPv6 address stands in brackets, as in [::1]:80"))
        }
        return .success(.tcp(host: host, port: number))
    }
}

/// A length of time as a person types it: `30s`, `500ms`, `2m`, `1h`, `10` (seconds); empty, `-` or `none`: none.
package enum DurationText {
    /// nil when it is no length of time; `.some(nil)` when there shall be none.
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
