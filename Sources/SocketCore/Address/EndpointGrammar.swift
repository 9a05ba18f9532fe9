/// The reason that a text is not an endpoint, and what to write instead.
public struct EndpointError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The given text.
    public let text: String
    /// The problem and its remedy, as the second half of a sentence.
    public let problem: String

    /// The problem of an address with an unknown scheme.
    static let unknownScheme = "only tcp:// and unix: are supported here; write host:port"

    /// Returns the error with these additional schemes named where a scheme is unknown. For grammars that extend this
    /// one.
    package func naming(_ schemes: [String]) -> EndpointError {
        guard problem == Self.unknownScheme else { return self }
        let known = "tcp://, " + schemes.joined(separator: ", ") + " and unix:"
        return EndpointError(text: text, problem: "only \(known) are supported here; write host:port")
    }

    /// Creates an error. For grammars that extend this one.
    package init(text: String, problem: String) {
        self.text = text
        self.problem = problem
    }

    /// The text and the problem on one line: `localhost:99999: the port must be 1 to 65535`.
    public var description: String { "\(text.isEmpty ? "an empty address" : text): \(problem)" }
}

/// The text forms of an endpoint: `host:80`, `[::1]:80`, `[fe80::1%lo]:80`, `:80`, `tcp://host:80`, `unix:/path`,
/// `unix:@name` and a bare `/path`. Host names are not resolved here.
extension Endpoint {
    /// The most bytes that the path or name of a Unix-domain socket can have (`sun_path` holds 108, one ends it).
    public static let longestUnixPath = 107

    /// Parses one endpoint. Port 0 (any free port) is useful only for a listener or a bind, which allow it.
    /// - Throws: an `EndpointError` that contains the text and what to write instead.
    public static func parse(_ text: String, allowsPortZero: Bool = false) throws(EndpointError) -> Endpoint {
        func refuse(_ problem: String) -> EndpointError { EndpointError(text: text, problem: problem) }
        if text.isEmpty { throw refuse("write host:port, [::1]:port, :port, unix:/path or unix:@name") }
        if text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            throw EndpointError(
                text: String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "?" : Character($0) }),
                problem: "control characters are not allowed in an address")
        }
        do throws(Problem) {
            if text.hasPrefix("/") { return try unix(text) }
            if let path = rest(of: text, after: "unix:") { return try unix(rest(of: path, after: "//") ?? path) }
            var address = rest(of: text, after: "tcp://") ?? text
            if address.count < text.count, address.hasSuffix("/") { address.removeLast() }
            return try tcp(address, lowestPort: allowsPortZero ? 0 : 1)
        } catch {
            throw refuse(error.text)
        }
    }

    private struct Problem: Error { let text: String }

    /// Returns the text after `prefix`, which is matched without regard to case.
    private static func rest(of text: String, after prefix: String) -> String? {
        guard text.lowercased().hasPrefix(prefix) else { return nil }
        return String(text.dropFirst(prefix.count))
    }

    private static func unix(_ path: String) throws(Problem) -> Endpoint {
        // Not as a Character, which can be more.
        let isAbstract = path.utf8.first == UInt8(ascii: "@")
        let name = isAbstract ? String(path.unicodeScalars.dropFirst()) : path
        guard !name.isEmpty else { throw Problem(text: "a path or @name must follow, as in unix:/run/name.sock") }
        let length = name.nativeBytes.count
        guard length <= longestUnixPath else {
            throw Problem(
                text: "a Unix-domain socket's path has at most \(longestUnixPath) bytes, this one \(length)")
        }
        return isAbstract ? .abstract(name: name) : .unix(path: name)
    }

    private static func tcp(_ text: String, lowestPort: UInt16) throws(Problem) -> Endpoint {
        if text.contains("://") { throw Problem(text: EndpointError.unknownScheme) }
        let host: String
        let tail: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw Problem(text: "the ] after the address is missing") }
            host = String(text[text.index(after: text.startIndex)..<end])
            tail = text[text.index(after: end)...]
            guard isNumericV6(host) else { throw Problem(text: "[\(host)] is not an IPv6 address; write [::1]:80") }
        } else {
            let colon = text.firstIndex(of: ":") ?? text.endIndex
            host = String(text[..<colon])
            tail = text[colon...]
            if tail.hasPrefix(":/") { throw Problem(text: "write a path as unix:\(tail.dropFirst())") }
            if tail.dropFirst().contains(":") { throw Problem(text: tooManyColons(text)) }
            try checkName(host)
            if tail.isEmpty, let port = UInt16(host), port > 0 {
                throw Problem(text: "write a port alone as :\(port)")
            }
        }
        guard tail.first == ":" else {
            throw Problem(text: "the port is missing; write \(host.contains(":") ? "[\(host)]" : host):80")
        }
        return .host(host, port: try port(tail.dropFirst(), lowest: lowestPort))
    }

    private static func port(_ digits: Substring, lowest: UInt16) throws(Problem) -> UInt16 {
        if digits.isEmpty { throw Problem(text: "no port after the colon") }
        guard digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            throw Problem(text: "the port \(digits) is not a number; write digits, as in :80")
        }
        guard digits.utf8.count <= 9, let port = UInt16(digits), port >= lowest else {
            throw Problem(text: "the port must be \(lowest) to 65535")
        }
        return port
    }

    private static func tooManyColons(_ text: String) -> String {
        if let address = rest(of: text, after: "tcp:") { return "write tcp://\(address), or \(address)" }
        let isNumeric = text.unicodeScalars.allSatisfy {
            $0.properties.isASCIIHexDigit || ":.%".unicodeScalars.contains($0)
        }
        return isNumeric
            ? "write an IPv6 address in brackets, as in [::1]:80" : "too many colons; write host:port"
    }

    private static func checkName(_ host: String) throws(Problem) {
        if host.hasPrefix("@") { throw Problem(text: "write an abstract name as unix:\(host)") }
        if host.hasNativeBytes { throw Problem(text: "a host name is UTF-8") }
        let unfit = host.unicodeScalars.first { $0.value <= 0x20 || "/@?#[]\\%\"'<>,;".unicodeScalars.contains($0) }
        if let unfit {
            throw Problem(
                text: unfit == " "
                    ? "a space is not allowed in a host name" : "\"\(unfit)\" is not allowed in a host name")
        }
        if host.utf8.count > 253 { throw Problem(text: "a host name has at most 253 bytes") }
    }

    /// Whether this is an IPv6 address in one of its text forms, `%scope` allowed.
    private static func isNumericV6(_ text: String) -> Bool {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, parts[1].isEmpty || parts[1].contains("%") { return false }
        return IPAddress.v6(text: String(parts[0])) != nil
    }
}
