import Glibc
import SocketTestSupport
import Testing

/// A run of the program that is recorded, and what tshark, tcpdump and capinfos read in its file.
final class RecordedRun {
    let file: String
    let program: Peer
    /// Where it listens; 0: it does not.
    let port: UInt16

    /// Starts it, to run until `end()`.
    init(_ words: String...) throws {
        file = try Program.folder() + "/r.pcapng"
        (program, port) = (try Peer([Program.path] + words + ["--json", "--record", file]), 0)
    }

    /// Starts a relay to a port and waits until it listens.
    init(relayingTo target: UInt16, _ options: String...) throws {
        let file = try Program.folder() + "/r.pcapng"
        let relay = try Peer.server {
            [Program.path, "relay", "127.0.0.1:\($0)", "127.0.0.1:\(target)", "--json", "--record", file] + options
        }
        (self.file, program, port) = (file, relay.peer, relay.port)
    }

    /// Bytes of its file so far.
    var size: Int {
        var facts = stat()
        return stat(file, &facts) == 0 ? Int(facts.st_size) : 0
    }

    /// Ends it, once so many of its connections have closed.
    func end(afterClosing count: Int) throws {
        func closed() -> Int { program.text.split(separator: "\n").count { $0.contains(#""event":"closed""#) } }
        try #require(eventually { closed() >= count || program.hasEnded }, "\(program.complaints)")
        kill(program.process, SIGINT)
        try #require(eventually { program.hasEnded }, "\(program.complaints)")
    }

    /// What tshark prints of its file.
    func tshark(_ words: String...) throws -> String {
        let outcome = try ChildProcess.run(["tshark", "-r", file] + words)
        #expect(outcome.status == 0, "\(outcome)")
        return outcome.output
    }

    /// Checks that others read the file to its end, and that tshark has nothing to object. A connection that was reset is a
    /// warning to it.
    func expectReadable(resets: Bool = false, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for words in [["capinfos", file], ["tcpdump", "-nr", file]] {
            let outcome = try ChildProcess.run(words)
            #expect(outcome.status == 0, "\(outcome)", sourceLocation: sourceLocation)
        }
        let warnings = try tshark("-q", "-z", "expert,warn")
        let lines = warnings.split(separator: "\n").filter { line in
            line.contains { $0.isNumber } && !line.contains("(") && !(resets && line.contains("Connection reset (RST)"))
        }
        #expect(lines.isEmpty, "\(warnings)", sourceLocation: sourceLocation)
    }

    /// The bytes of one TCP stream as tshark follows it: what the client sent, and the server.
    func followed(_ stream: Int) throws -> (client: [UInt8], server: [UInt8]) {
        var found: (client: [UInt8], server: [UInt8]) = ([], [])
        for line in try tshark("-q", "-z", "follow,tcp,raw,\(stream)").split(separator: "\n") {
            let digits = Array(line.drop { $0 == "\t" }.utf8)
            guard !digits.isEmpty, digits.count.isMultiple(of: 2) else { continue }
            let bytes = stride(from: 0, to: digits.count, by: 2).map {
                UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16)
            }
            guard !bytes.contains(nil) else { continue }
            if line.hasPrefix("\t") {
                found.server += bytes.map { $0 ?? 0 }
            } else {
                found.client += bytes.map { $0 ?? 0 }
            }
        }
        return found
    }
}
