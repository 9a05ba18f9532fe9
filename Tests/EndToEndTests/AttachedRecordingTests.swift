import Glibc
import SocketTestSupport
import Testing

/// Recording what passes through another program, which socktui attaches to.
@Suite("Recordings of attached programs", .timeLimit(.minutes(10)), .enabled(if: Peer.isUsable("tshark", "python3")))
struct AttachedRecordingTests {
    /// A program that lets itself be inspected, what records it, and one who talks to it.
    private final class Attached {
        let folder: TemporaryFolder
        let program: Peer
        let port: UInt16
        let recording: Peer
        var file: String { folder.path + "/r.pcapng" }

        init(_ rights: String) throws {
            let folder = try TemporaryFolder()
            self.folder = folder
            (program, port) = try Peer.server(keeping: folder) { port in
                [
                    "env", "XDG_RUNTIME_DIR=\(folder.path)", "SOCKETKIT_INSPECT=\(rights)", Program.path, "listen",
                    "127.0.0.1:\(port)", "--json",
                ]
            }
            try #require(eventually { folder.contains("socktui") })
            recording = try Peer([
                "env", "XDG_RUNTIME_DIR=\(folder.path)", Program.path, "attach", "\(program.process)", "--json",
                "--record", folder.path + "/r.pcapng",
            ])
            try #require(eventually { self.recording.text.contains("\n") || self.recording.hasEnded })
            try #require(!recording.hasEnded, "\(recording.complaints)")
        }

        /// Connects and sends a mark again and again until a file is there, then 300,000 bytes, and ends.
        func talk(until go: String) throws -> Peer {
            let client = """
                import os, select, socket, sys
                s = socket.create_connection(('127.0.0.1', \(port)))
                while not os.path.exists(sys.argv[1]): s.sendall(b'mark\\n'); select.select([], [], [], 0.02)
                s.sendall(b'begin' + bytes(range(100)) * 3000 + b'end'); s.shutdown(1); s.recv(1)
                """
            return try Peer(["python3", "-c", client, "\(folder.path)/\(go)"])
        }

        func end() throws {
            kill(recording.process, SIGINT)
            try #require(eventually { recording.hasEnded }, "\(recording.complaints)")
        }

        /// What tshark follows of one stream, as hexadecimal digits.
        func followed(_ stream: Int) throws -> String {
            let outcome = try ChildProcess.run(["tshark", "-r", file, "-q", "-z", "follow,tcp,raw,\(stream)"])
            #expect(outcome.status == 0, "\(outcome)")
            return outcome.output.split(separator: "\n").map { $0.filter(\.isHexDigit) }.joined()
        }

        /// Whether the file has a mark.
        var isMarked: Bool { (try? ChildProcess.run(["grep", "-c", "mark", file]))?.status == 0 }
    }

    /// `begin`, 0 to 99 three thousand times, `end`.
    private static let all: String = {
        let bytes = Array("begin".utf8) + (0..<3_000).flatMap { _ in UInt8(0)..<100 } + Array("end".utf8)
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }()

    @Test("with the right to payload, tshark follows every byte of connections opened before and after")
    func payload() throws {
        let attached = try Attached("payload")
        let first = try attached.talk(until: "go")
        try #require(eventually { attached.isMarked }, "\(attached.recording.complaints)")
        let second = try attached.talk(until: "go")
        attached.folder.write("", to: "go")
        try #require(eventually { first.hasEnded && second.hasEnded })
        try #require(
            eventually {
                attached.recording.text.split(separator: "\n").count { $0.contains(#""event":"closed""#) } >= 2
            })
        try attached.end()
        for stream in 0...1 { #expect(try attached.followed(stream).contains(Self.all)) }
        let warnings = try ChildProcess.run(["tshark", "-r", attached.file, "-q", "-z", "expert,warn"])
        #expect(
            warnings.status == 0 && !warnings.output.contains("Warns") && !warnings.output.contains("Errors"),
            "\(warnings)")
    }

    @Test("without it, the state is recorded and no byte")
    func watchOnly() throws {
        let attached = try Attached("watch")
        let client = try attached.talk(until: "go")
        try #require(
            eventually { attached.recording.text.contains(#""event":"accepted""#) }, "\(attached.recording.text)")
        attached.folder.write("", to: "go")
        try #require(eventually { client.hasEnded })
        try attached.end()
        #expect(!attached.isMarked)
        let opened = try Program.run("open", attached.file, "--once")
        #expect(opened.status == 0 && opened.output.contains("127.0.0.1"), "\(opened)")
    }
}
