import SocketCore

/// A request to a proxy in absolute form (RFC 9112, 3.2.2), rewritten for the server that it names: in origin form,
/// without fields for proxies or for the client's connection only, and for one exchange.
package struct HTTPForwardedRequest: Equatable, Sendable {
    /// The reason that a request is not forwarded.
    struct Refusal: Error, Equatable {
        var status: String
        var words: String
    }

    /// The server.
    package let endpoint: Endpoint
    /// The head to send to the server.
    package let head: [UInt8]
    /// The length of the received head in bytes.
    package let length: Int
    /// The body that follows the head.
    package let body: HTTPRequestBody

    /// Rewrites a head. `raw` is the received head, from which all other fields are copied unchanged.
    init(
        _ method: String, _ target: String, _ version: String, _ read: HTTPHead, raw: ArraySlice<UInt8>
    ) throws(Refusal) {
        guard let colon = target.firstRange(of: "://"), !target.hasPrefix("/") else {
            throw .init(
                status: "400 Bad Request", words: "this is a proxy: \(method) needs a complete http:// URL")
        }
        guard target[..<colon.lowerBound].lowercased() == "http" else {
            let scheme = target[..<colon.lowerBound]
            throw .init(status: "501 Not Implemented", words: "\(scheme):// is not forwarded; it needs CONNECT")
        }
        let rest = target[colon.upperBound...].prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        var path = String(rest[authority.endIndex...])
        if !path.hasPrefix("/") { path = path.isEmpty && method == "OPTIONS" ? "*" : "/" + path }
        endpoint = try Self.endpoint(String(authority))
        do throws(HTTPHeadFault) {
            body = try HTTPRequestBody(after: read)
        } catch {
            throw .init(status: "400 Bad Request", words: error.problem)
        }
        let upgrades = read.lists("upgrade", in: "connection")
        let dropped = Self.dropped(read, upgrades: upgrades)
        let end = "Connection: \(upgrades ? "Upgrade, " : "")close\r\n\r\n"
        let lines = Self.lines(raw, host: String(authority), dropping: dropped) + Array(end.utf8)
        length = raw.count
        head = Array("\(method) \(path) \(version)\r\n".utf8) + lines
    }

    private static func endpoint(_ authority: String) throws(Refusal) -> Endpoint {
        let hasPort = authority.last != "]" && authority.contains(":")
        let text = authority.last == ":" ? authority + "80" : hasPort ? authority : authority + ":80"
        guard !authority.contains("@"), let endpoint = try? Endpoint.parse(text), endpoint.host?.isEmpty == false else {
            throw .init(status: "400 Bad Request", words: "\(authority) is not host or host:port")
        }
        return endpoint
    }

    /// Returns the names of the fields that are about the client's connection only: those that `Connection` names, and
    /// those that clients send without naming them (RFC 9110, 7.6.1). What says where the request goes and where it
    /// ends is never among them.
    private static func dropped(_ head: HTTPHead, upgrades: Bool) -> Set<String> {
        let named = head.list(of: "connection").map { $0.lowercased() }
        let upgrade = upgrades ? ["upgrade", "http2-settings"] : []
        return Set(named + ["connection", "keep-alive", "te", "upgrade"])
            .subtracting(["host", "content-length", "transfer-encoding"] + upgrade)
    }

    /// Returns the fields, unchanged except for what a proxy must change: Host names the server of the request line (RFC
    /// 9112, 3.2.2), and of equal lengths only one is left (RFC 9110, 8.6).
    private static func lines(_ raw: ArraySlice<UInt8>, host: String, dropping dropped: Set<String>) -> [UInt8] {
        var fields: [UInt8] = []
        var (hasHost, hasLength) = (false, false)
        for line in raw.split(separator: 0x0A).dropFirst() {
            let line = line.last == 0x0D ? line.dropLast() : line
            guard let colon = line.firstIndex(of: 0x3A) else { continue }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            if dropped.contains(name) || name.hasPrefix("proxy-") { continue }
            switch name {
            case "host" where hasHost, "content-length" where hasLength: continue
            case "host":
                hasHost = true
                fields += line[...colon] + Array(" \(host)\r\n".utf8)
            case "content-length":
                hasLength = true
                // All elements of its list are the same.
                fields += line.prefix { $0 != 0x2C } + [0x0D, 0x0A]
            default: fields += line + [0x0D, 0x0A]
            }
        }
        return Array((hasHost ? "" : "Host: \(host)\r\n").utf8) + fields
    }
}
