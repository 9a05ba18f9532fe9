import Glibc
import SocketTestSupport
import Testing

/// Recordings, as programs that nobody here wrote read them, and as this one opens them.
@Suite("Recordings", .timeLimit(.minutes(10)), .enabled(if: Peer.isUsable("tshark", "tcpdump", "python3")))
struct RecordingTests {
    private static func shell(_ line: String) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            ["bash", "-c", line, Program.path], environment: Program.environment(try Program.folder()))
    }

    /// A connection to a server that answers one message and closes, recorded; the file.
    private static func conversation(_ options: String = "") throws -> (file: String, ChildProcess.Outcome) {
        let file = try Program.folder() + "/r.pcapng"
        let server = """
            import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)
            c, _ = s.accept(); d = c.recv(100); c.sendall(b'+' + d); c.close()
            """
        let outcome = try shell(
            """
            exec 3< <(python3 -c "\(server)"); read -r port <&3
            "$0" connect 127.0.0.1:$port --send 'hello\\n' --record \(file) \(options)
            """)
        return (file, outcome)
    }

    @Test("tshark, capinfos and tcpdump read it to its end, and follow its bytes")
    func readers() throws {
        let (file, outcome) = try Self.conversation()
        #expect(outcome.status == 0, "\(outcome)")
        for command in ["capinfos \(file)", "tcpdump -nr \(file)"] {
            let read = try Self.shell(command)
            #expect(read.status == 0, "\(read)")
        }
        let warnings = try Self.shell("tshark -r \(file) -q -z expert,warn")
        #expect(warnings.status == 0 && !warnings.output.contains("Warns") && !warnings.output.contains("Errors"))
        let followed = try Self.shell("tshark -r \(file) -q -z follow,tcp,raw,0")
        #expect(followed.output.contains("\n68656c6c6f0a\n\t2b68656c6c6f0a\n"), "\(followed)")
    }

    @Test("it is opened again, with what was sent and received")
    func opened() throws {
        let (file, _) = try Self.conversation()
        let opened = try Self.shell("\"$0\" open \(file) --once --json --payload 4K")
        #expect(opened.status == 0, "\(opened)")
        #expect(opened.output.contains("hello"), "\(opened)")
        let told = try Self.shell("\"$0\" open \(file) --json").output
        #expect(told.contains(#""type":"event""#) && !told.contains(#""type":"lost""#), "\(told)")
        // What has no frames of ours is put together from its packets.
        let foreign = try Self.shell("tcpdump -r \(file) -w \(file).pcap && \"$0\" open \(file).pcap --once")
        #expect(foreign.status == 0 && foreign.output.contains("127.0.0.1:"), "\(foreign)")
    }

    @Test("its state at an earlier instant is shown, and an instant after its end is refused with where it ends")
    func earlier() throws {
        let (file, _) = try Self.conversation()
        let pcap = try Self.shell("tcpdump -r \(file) -w \(file).pcap")
        #expect(pcap.status == 0, "\(pcap)")
        // What was sent in the turn of the handshake, and no answer; then everything.
        let first = try Self.shell("\"$0\" open \(file).pcap --at 0 --once --json --payload 4K")
        #expect(first.status == 0 && first.output.contains("127.0.0.1:"), "\(first)")
        #expect(!first.output.contains("\"+hello"), "\(first)")
        let end = try Self.shell("\"$0\" open \(file).pcap --once --json --payload 4K")
        #expect(end.output.contains("\"+hello"), "\(end)")
        let beyond = try Self.shell("\"$0\" open \(file) --at 9999 --once")
        #expect(beyond.status == 1 && beyond.errors.contains("--at: the recording ends at 00:"), "\(beyond)")
        let listed = try Self.shell("\"$0\" open \(file) --at 0 --once")
        #expect(listed.status == 0 && listed.output.contains("127.0.0.1:"), "\(listed)")
        let wrong = try Self.shell("\"$0\" open \(file) --at noon --once")
        #expect(wrong.status == 2 && wrong.errors.contains("noon is not a time"), "\(wrong)")
    }

    @Test("a file that was cut off, or is none, is said to be")
    func cutOff() throws {
        let (file, _) = try Self.conversation()
        let cut = try Self.shell("head -c -50 \(file) >\(file).cut; \"$0\" open \(file).cut --once")
        #expect(cut.status == 1 && cut.output.contains("127.0.0.1:"), "\(cut)")
        #expect(cut.errors.contains("r.pcapng.cut: it ends after"), "\(cut)")
        let export = try Self.shell("\"$0\" export \(file).cut --as raw --side client")
        #expect(export.status == 1 && export.output == "hello\n", "\(export)")
        #expect(export.errors.contains("bytes of a block at offset "), "\(export)")
        let empty = try Self.shell(": >\(file).empty; \"$0\" open \(file).empty --once")
        #expect(empty.status == 1 && empty.errors.contains("neither pcapng nor pcap: it has 0 bytes"), "\(empty)")
    }

    @Test("it is the user's own, replaced only if asked for, and never made through a symbolic link")
    func file() throws {
        let (file, _) = try Self.conversation()
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let again = try Self.shell("\"$0\" demo --once --record \(file)")
        #expect(again.status == 1 && again.errors.contains("it exists; --force replaces it"), "\(again)")
        let forced = try Self.shell("\"$0\" demo --once --record \(file) --force && capinfos -c \(file)")
        #expect(forced.status == 0, "\(forced)")
        let link = try Self.shell("ln -s \(file) \(file).link; \"$0\" demo --once --record \(file).link --force")
        #expect(link.status == 1 && link.errors.contains("symbolic link"), "\(link)")
    }

    @Test("link types that are not read are named on every road, and nothing read is status 1")
    func unread() throws {
        let folder = try TemporaryFolder()
        var script = SegmentScript()
        script.handshake()
        let path = folder.path + "/ppp.pcap"
        let file = try #require(fopen(path, "w"))
        let bytes = script.pcap(link: 9, header: [0xFF, 3, 0, 0x21])
        #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count && fclose(file) == 0)
        for words in ["open \(path) --once", "open \(path) --json", "open \(path)", "export \(path) --as curl"] {
            let outcome = try Self.shell("\"$0\" \(words) | cat; exit ${PIPESTATUS[0]}")
            #expect(outcome.status == 1, "\(words): \(outcome)")
            let reason = "3 packets of an unsupported link type, PPP (9)"
            #expect(outcome.errors.contains(reason), "\(words): \(outcome)")
        }
    }

    @Test("what is no capture is refused with a sentence")
    func refused() throws {
        let folder = try TemporaryFolder()
        folder.write("this is a text and no capture", to: "text")
        let outcome = try Self.shell("\"$0\" open \(folder.path)/text --once")
        #expect(outcome.status == 1 && outcome.errors.contains("neither pcapng nor pcap"), "\(outcome)")
        let missing = try Self.shell("\"$0\" open /no/such/file --once")
        #expect(missing.status == 1 && missing.errors.contains("/no/such/file: "), "\(missing)")
    }
}
