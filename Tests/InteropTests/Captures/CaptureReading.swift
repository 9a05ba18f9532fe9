import Glibc
import SocketCore
import SocketRecords
import SocketTestSupport

/// A capture as it is opened here, and as tshark puts its streams together.
struct CaptureReading {
    let path: String
    let capture: OpenedCapture

    init(_ path: String) throws {
        self.path = path
        var capture = OpenedCapture(keeping: 64 << 20, all: 64 << 20)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Unusable(path: path) }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 10_007)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            try capture.absorb(buffer[..<count])
        }
        capture.finish()
        self.capture = capture
    }

    var sockets: [SocketSnapshot] { capture.snapshot(SnapshotRequest(eventsFrom: 0), named: "x")?.sockets ?? [] }

    /// The first session to this port.
    func socket(to port: UInt16) -> SocketSnapshot? { sockets.first { $0.peer?.port == port } }

    /// What one end of a session sent; `nil` for each byte that is missing.
    func sent(_ direction: TrafficItem.Direction, by socket: SocketSnapshot) -> [UInt8?] {
        capture.traffic(of: socket.id).items.filter { $0.direction == direction }.flatMap { item in
            [UInt8?](repeating: nil, count: Int(item.skipped)) + item.bytes.map { $0 }
        }
    }

    /// The lines that tshark prints.
    func tshark(_ words: String...) throws -> [String] {
        let outcome = try ChildProcess.run(["tshark", "-n", "-r", path] + words)
        return outcome.output.split(separator: "\n").map(String.init)
    }

    /// What the ends of a TCP stream sent, as tshark follows it.
    func followed(_ stream: Int, clientPort: UInt16) throws -> (client: [UInt8?], server: [UInt8?]) {
        try Self.followed(tshark("-q", "-z", "follow,tcp,raw,\(stream)"), clientPort: clientPort)
    }

    /// The same, from the lines that tshark printed.
    static func followed(_ lines: [String], clientPort: UInt16) -> (client: [UInt8?], server: [UInt8?]) {
        var found: (first: [UInt8?], second: [UInt8?]) = ([], [])
        var isClientFirst = true
        for line in lines {
            if line.hasPrefix("Node 0:") { isClientFirst = line.hasSuffix(":\(clientPort)") }
            let digits = Array(line.utf8.drop { $0 == 9 })
            let bytes = stride(from: 0, to: digits.count - 1, by: 2).map {
                UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16)
            }
            guard !bytes.isEmpty, digits.count.isMultiple(of: 2), !bytes.contains(nil) else { continue }
            let part = withGaps(bytes.map { $0 ?? 0 })
            if line.hasPrefix("\t") { found.second += part } else { found.first += part }
        }
        return isClientFirst ? (found.first, found.second) : (found.second, found.first)
    }

    /// Tshark puts a sentence into the stream where bytes are missing: `[12 bytes missing in capture file]`.
    private static func withGaps(_ bytes: [UInt8]) -> [UInt8?] {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix("["), text.hasSuffix(" bytes missing in capture file]\0"),
            let count = Int(text.dropFirst().prefix { $0.isNumber })
        else { return bytes.map { $0 } }
        return [UInt8?](repeating: nil, count: count)
    }
}

/// A file of a test that cannot be read or written.
struct Unusable: Error { var path: String }

/// In words where two streams differ first; what is missing at the end is not told by readers. `nil`: they do not.
func difference(_ found: [UInt8?], _ expected: [UInt8?]) -> String? {
    for index in 0..<max(found.count, expected.count) {
        let one = index < found.count ? found[index] : nil
        let other = index < expected.count ? expected[index] : nil
        guard one != other else { continue }
        let words = [one, other].map { $0.map { "\($0)" } ?? "nothing" }
        return "at \(index) of \(found.count) and \(expected.count): \(words[0]) for \(words[1])"
    }
    return nil
}
