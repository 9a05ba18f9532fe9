import SocketTestSupport
import Testing

/// What a test suite does with a relay from outside: `socktui ctl`.
@Suite("socktui ctl", .enabled(if: Peer.isUsable("python3"), "python3 is missing"), .timeLimit(.minutes(10)))
struct ControlTests {
    /// A relay to a server that says after each read how many bytes it has, and answers FIN with their hash.
    private final class Relayed {
        static let server = """
            import hashlib, socket, sys
            listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
            while True:
                client, digest, count = listener.accept()[0], hashlib.sha256(), 0
                try:
                    while data := client.recv(1 << 20):
                        digest.update(data)
                        count += len(data)
                        print(count, flush=True)
                    client.sendall(digest.hexdigest().encode())
                except OSError as error:
                    print(error, flush=True)
                client.close()
            """
        static let client = """
            import hashlib, socket, sys
            bytes = bytes(number * 31 >> 3 & 255 for number in range(1 << 20))
            server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
            try:
                server.sendall(bytes)
                server.shutdown(socket.SHUT_WR)
                print(server.recv(100).decode() == hashlib.sha256(bytes).hexdigest())
            except OSError as error:
                print(error)
            """
        let folder: TemporaryFolder
        let server: (peer: Peer, port: UInt16)
        let relay: (peer: Peer, port: UInt16)

        init(_ options: String...) throws {
            let folder = try TemporaryFolder()
            let server = try Peer.server { ["python3", "-c", Self.server, "\($0)"] }
            (self.folder, self.server) = (folder, server)
            relay = try Peer.server(keeping: folder) {
                [
                    "env", "XDG_RUNTIME_DIR=\(folder.path)", Program.path, "relay", "127.0.0.1:\($0)",
                    "127.0.0.1:\(server.port)", "--json",
                ] + options
            }
        }

        func control(_ words: String...) throws -> ChildProcess.Outcome {
            let environment = Program.environment(folder.path).merging(["XDG_RUNTIME_DIR": folder.path]) { $1 }
            return try ChildProcess.run(
                [Program.path, "ctl", "\(relay.peer.process)"] + words, environment: environment)
        }

        func connect() throws -> Peer { try Peer(["python3", "-c", Self.client, "\(relay.port)"]) }
        /// The last count of the server.
        var count: String? { server.peer.text.split(separator: "\n").last.map(String.init) }
    }

    @Test("a breakpoint stops a stream at its byte, and ctl lets it go on piece by piece")
    func breakpoint() throws {
        let relayed = try Relayed("--control", "--break", "upstream on bytes 4711")
        let client = try relayed.connect()
        #expect(eventually { relayed.count == "4711" && relayed.relay.peer.text.contains(#""event":"held""#) })
        #expect(try relayed.control("release", "1").status == 0)
        #expect(eventually { relayed.count == "4712" })
        #expect(try relayed.control("release", "10").status == 0)
        #expect(eventually { relayed.count == "4722" })
        let held = try relayed.control("held")
        #expect(held.status == 0 && held.output.contains("held by breakpoint 1 (bytes 4711) for "), "\(held)")
        #expect(held.output.split(separator: "\n").count == 1 && held.output.hasSuffix(", downstream 0 B\n"))
        #expect(client.text.isEmpty)
        #expect(try relayed.control("release").status == 0)
        #expect(eventually { client.text == "True\n" })
        #expect(try relayed.control("held").output == "nothing is held\n")
        let again = try relayed.control("release")
        #expect(again.status == 1 && again.errors.contains("nothing is held"))
    }

    @Test("faults are added, listed and removed while it runs, and a bad one is refused by its word")
    func faults() throws {
        let relayed = try Relayed("--control", "--seed", "7")
        let bad = try relayed.control("fault", "add", "downstream latncy 5ms")
        #expect(bad.status == 2 && bad.errors.contains("latncy") && bad.errors.contains("latency"), "\(bad)")
        let added = try relayed.control("fault", "add", "after 100 upstream reset")
        #expect(added.output == "fault 1: after 100 upstream reset (seed 7)\n", "\(added)")
        let client = try relayed.connect()
        // The kernel may have taken all of it before the RST comes; then shutdown is told.
        #expect(eventually { client.text.contains("reset by peer") || client.text.contains("not connected") })
        #expect(eventually { relayed.server.peer.text == "100\n[Errno 104] Connection reset by peer\n" })
        #expect(try relayed.control("fault", "list").output == "seed 7\nfault 1: after 100 upstream reset\n")
        #expect(try relayed.control("fault", "off", "1").status == 0)
        let other = try relayed.connect()
        #expect(eventually { other.text == "True\n" })
        let events = try Report(relayed.relay.peer.text).lines("event").filter { $0["event"] == .string("faulted") }
        #expect(events.count == 1 && events[0]["rule"] == .number(1) && events[0]["offset"] == .number(100))
    }

    @Test("a socktui that was not started with --control is not changed")
    func refusal() throws {
        let relayed = try Relayed()
        let refused = try relayed.control("fault", "list")
        #expect(refused.status == 4 && refused.errors.contains("\(relayed.relay.peer.process)"), "\(refused)")
    }
}
