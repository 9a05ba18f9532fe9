import Glibc

/// One TCP socket as `ss` lists it: a second opinion on what the engine tells.
package struct SocketStatistics: Hashable, Sendable {
    /// `ESTAB`, `LISTEN`, `CLOSE-WAIT`...
    package var state: String
    /// Recv-Q.
    package var receiveQueue: Int
    /// Send-Q.
    package var sendQueue: Int
    /// Our end, as `ss` writes it.
    package var local: String
    /// The other end.
    package var peer: String
    /// The processes that hold it.
    package var processes: Set<pid_t>
    /// bytes_sent; 0 where it is not said.
    package var bytesSent: UInt64
    /// bytes_received, likewise.
    package var bytesReceived: UInt64

    /// All else that it says of the socket, by the names that `ss` uses: `rtt`, `cwnd`, `delivery_rate`, `skmem`...
    package var facts: [String: String]

    /// The port of our end.
    package var localPort: UInt16? { Self.port(local) }
    /// The port of the other end; nil for a listener.
    package var peerPort: UInt16? { Self.port(peer) }

    /// All TCP sockets of this machine, listeners included.
    package static func all() throws -> [SocketStatistics] {
        let outcome = try ChildProcess.run(["ss", "-HOtanpim"])
        guard outcome.status == 0 else { throw ChildProcess.Failure(description: "ss: \(outcome.errors)") }
        return outcome.output.split(separator: "\n").compactMap { SocketStatistics($0) }
    }

    /// The socket with these ports.
    package static func socket(local: UInt16, peer: UInt16?) throws -> SocketStatistics? {
        try all().first { $0.localPort == local && $0.peerPort == peer && $0.state != "TIME-WAIT" }
    }

    private init?(_ line: Substring) {
        let words = line.split(separator: " ")
        guard words.count > 4, let received = Int(words[1]), let sent = Int(words[2]) else { return nil }
        state = String(words[0])
        receiveQueue = received
        sendQueue = sent
        local = String(words[3])
        peer = String(words[4])
        processes = Set(
            line.split { $0 == "," || $0 == ")" }.compactMap { part in
                part.hasPrefix("pid=") ? pid_t(part.dropFirst(4)) : nil
            })
        func number(_ name: String) -> UInt64 {
            words.first { $0.hasPrefix(name) }.flatMap { UInt64($0.dropFirst(name.count)) } ?? 0
        }
        facts = Self.facts(words.dropFirst(5))
        bytesSent = number("bytes_sent:")
        bytesReceived = number("bytes_received:")
    }

    /// Most are written `name:value`; rates as two words, `delivery_rate 8000bps`.
    private static func facts(_ words: ArraySlice<Substring>) -> [String: String] {
        var facts: [String: String] = [:]
        for (word, next) in zip(words, words.dropFirst() + [""]) {
            if let colon = word.firstIndex(of: ":") {
                facts[String(word[..<colon])] = String(word[word.index(after: colon)...])
            } else if next.hasSuffix("bps") {
                facts[String(word)] = String(next)
            }
        }
        return facts
    }

    private static func port(_ address: String) -> UInt16? {
        address.lastIndex(of: ":").flatMap { UInt16(address[address.index(after: $0)...]) }
    }
}
