/// The server's side of HTTP's CONNECT (RFC 9110, 9.3.6; RFC 9112, 3.2.3).
struct HTTPConnectHandshake: Equatable, Sendable {
    /// More than any client's request head has; who sends more gets status 431.
    static let limit = 16_384

    private var gathered: [UInt8] = []

    mutating func receive(_ bytes: [UInt8]) -> ProxyHandshake.Step {
        // Three bytes back: the end of the head may lie across two pieces.
        let start = max(0, gathered.count - 3)
        gathered += bytes
        guard let end = endOfHead(from: start) else {
            guard gathered.count > Self.limit else { return .wait }
            let words = "the head of the request is longer than \(Self.limit) bytes"
            return .refuse(Self.response("431 Request Header Fields Too Large", words))
        }
        let early = Array(gathered[end...])
        let line = gathered.prefix { $0 != 13 && $0 != 10 }
        gathered = []
        return step(line, early: early)
    }

    /// Where what follows the empty line begins.
    private func endOfHead(from start: Int) -> Int? {
        for index in start..<gathered.count where gathered[index] == 10 {
            if index >= 1, gathered[index - 1] == 10 { return index + 1 }
            if index >= 3, gathered[(index - 3)...index].elementsEqual([13, 10, 13, 10]) { return index + 1 }
        }
        return nil
    }

    private func step(_ line: ArraySlice<UInt8>, early: [UInt8]) -> ProxyHandshake.Step {
        let words = line.split(separator: 0x20).map(HostText.plain)
        guard words.count == 3, let method = words[0], let target = words[1], let version = words[2],
            version.hasPrefix("HTTP/1.")
        else {
            let words = "the request line is not METHOD TARGET HTTP/1.1"
            return .refuse(Self.response("400 Bad Request", words))
        }
        guard method == "CONNECT" else {
            let words = "only CONNECT is relayed, not \(method); with curl, add --proxytunnel"
            return .refuse(Self.response("405 Method Not Allowed", words, "Allow: CONNECT\r\n"))
        }
        guard let endpoint = try? Endpoint.parse(target), case .tcp(let host, _) = endpoint, !host.isEmpty,
            !target.contains("/")
        else {
            let words = "\(target) is not host:port"
            return .refuse(Self.response("400 Bad Request", words))
        }
        return .open(endpoint, early: early)
    }

    /// A whole response of plain text, behind which the connection closes.
    static func response(_ status: String, _ words: String, _ header: String = "") -> [UInt8] {
        let body = "socktui relay: \(words)\n"
        return Array(
            ("HTTP/1.1 \(status)\r\nContent-Type: text/plain\r\nContent-Length: \(body.utf8.count)\r\n\(header)"
                + "Connection: close\r\n\r\n\(body)").utf8)
    }
}
