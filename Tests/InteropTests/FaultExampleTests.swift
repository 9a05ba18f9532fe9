import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// The programs in Examples/faults, each with the fault that shows its defect, and without.
@Suite("Worked examples of faults", .timeLimit(.minutes(10)), .enabled(if: Peer.isUsable("python3")))
struct FaultExampleTests {
    private static let folder =
        #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Examples/faults"

    /// A relay to a server, with rules that can be changed.
    private final class Through {
        let engine = SocketEngine()
        let control = FaultControl()
        let relay: Relay
        let port: UInt16

        init(to target: UInt16, _ rules: String...) throws {
            for rule in rules { _ = try control.add(rule) }
            relay = Relay(
                engine: engine,
                request: RelayRequest(
                    listen: .tcp(host: "127.0.0.1", port: 0),
                    target: .endpoint(.tcp(host: "127.0.0.1", port: target))), control: control)
            try relay.start()
            port = try #require(engine.snapshot().sockets.first { $0.role == .listener }?.local?.port)
        }

        /// What a client that sends a text gets until the other end says no more.
        func answer(to text: String, until isEnough: ([UInt8]) -> Bool) throws -> (bytes: [UInt8], hasEnded: Bool) {
            let told = Recorder()
            let client = AsyncSocket(engine: engine, delegate: told)
            try client.connect(toHost: "127.0.0.1", port: port)
            client.read(ReadRequest(.available(limit: nil), isStanding: true))
            client.write(Array(text.utf8))
            #expect(eventually { isEnough(told.received) || told.isDisconnected })
            return (told.received, told.isDisconnected)
        }
    }

    /// Starts one of the servers.
    private func server(_ name: String, _ words: String...) throws -> (peer: Peer, port: UInt16) {
        try Peer.server { ["python3", "-u", "\(Self.folder)/\(name).py", "\($0)"] + words }
    }

    @Test("a parser that takes a read for a line breaks where the line is cut")
    func split() throws {
        let server = try server("one-read-one-line")
        let whole = try Through(to: server.port).answer(to: "PING\r\n") { $0.count >= 7 }
        #expect(whole.bytes == Array("+PONG\r\n".utf8))
        let cut = try Through(to: server.port, "upstream slice 1 every 2ms").answer(to: "PING\r\n") { $0.count >= 20 }
        #expect(String(decoding: cut.bytes, as: UTF8.self).hasPrefix("-ERR"))
    }

    @Test(
        "a client without a timeout hangs for as long as its server is stalled",
        .enabled(if: Peer.isUsable("redis-server")))
    func stall() throws {
        let redis = try Peer.redis()
        let through = try Through(to: redis.port, "downstream stall")
        let client = try RunningProgram(["python3", "\(Self.folder)/no-timeout.py", "\(through.port)", "PING\\r\\n"])
        #expect(eventually { through.engine.snapshot().sockets.contains { $0.fault?.rules.first?.count ?? 0 > 0 } })
        let other = try ChildProcess.run(
            ["python3", "\(Self.folder)/no-timeout.py", "\(through.port)", "PING\\r\\n", "0.2"])
        #expect(other.status == 1 && other.errors.contains("no answer in time"))
        #expect(client.text.isEmpty)
        #expect(through.control.clear() == 1)
        #expect(eventually { client.text.contains("+PONG") })
    }

    @Test("a server that forgets half-close answers nobody who sends FIN after the request")
    func halfClose() throws {
        let fault = "upstream after 6 half-close"
        let wrong = try server("forgets-half-close")
        let whole = try Through(to: wrong.port).answer(to: "WORK\r\n") { $0.count >= 6 }
        #expect(whole.bytes == Array("DONE\r\n".utf8))
        let closed = try Through(to: wrong.port, fault).answer(to: "WORK\r\n") { $0.count >= 6 }
        #expect(closed.bytes.isEmpty && closed.hasEnded)
        let right = try server("forgets-half-close", "right")
        let answered = try Through(to: right.port, fault).answer(to: "WORK\r\n") { $0.count >= 6 }
        #expect(answered.bytes == Array("DONE\r\n".utf8))
    }

    @Test("a client that tries again at once makes a storm of resets", .enabled(if: Peer.isUsable("redis-server")))
    func storm() throws {
        let redis = try Peer.redis()
        func tries(_ words: String...) throws -> Int {
            let through = try Through(to: redis.port, "upstream reset")
            let outcome = try ChildProcess.run(
                ["python3", "\(Self.folder)/retry-storm.py", "\(through.port)", "1"] + words)
            let tries = try #require(Int(outcome.output.split(separator: "\n").first ?? ""))
            let closed = through.engine.snapshot().sockets.filter { $0.fault?.rules.first?.effect == "reset" }
            #expect(!closed.isEmpty && closed.allSatisfy { $0.fault?.rules.first?.count ?? 0 > 0 })
            return tries
        }
        let (storm, calm) = (try tries(), try tries("backoff"))
        #expect(storm > 5 * calm && calm > 0, "\(storm) and \(calm)")
    }
}
