import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// A capture of a STARTTLS dialogue, read by Wireshark with the key log that we wrote.
@Suite(
    .enabled(if: Peer.isUsable("tshark", "tcpdump") && Certificates.problem == nil, "tshark or tcpdump is missing"),
    .enabled(if: getuid() == 0 || Peer.areRequired, "only root may capture"), .timeLimit(.minutes(10)))
struct TLSCaptureTests {
    @Test func theClearPartIsClearTheRestIsRecordsAndOurKeyLogDecryptsThem() throws {
        let folder = try TemporaryFolder()
        let (capture, keys) = (folder.path + "/capture.pcap", folder.path + "/keys")
        let answers = TLSSettings.testServer()
        let server = Recorder(onCall: { socket, call in
            switch call {
            case .text("STARTTLS\r\n", tag: 1):
                socket.write(Array("220 go ahead\r\n".utf8))
                try? socket.startTLS(answers)
                socket.read(ReadRequest(.delimiter([10], limit: 100), tag: 2))
            case .text("the secret question\r\n", tag: 2): socket.write(Array("the secret answer\r\n".utf8))
            default: break
            }
        })
        let reception = try Reception(
            accepting: Recorder(onAccept: { socket in
                socket.delegate = server
                socket.write(Array("220 ready\r\n".utf8))
                socket.read(ReadRequest(.delimiter([10], limit: 100), tag: 1))
            }))
        let tcpdump = try Peer(["tcpdump", "-Z", "root", "-i", "lo", "-U", "-w", capture, "tcp port \(reception.port)"])
        try #require(eventually { tcpdump.complaints.contains("listening on") || tcpdump.hasEnded })
        try #require(!tcpdump.hasEnded, "\(tcpdump.complaints)")
        try talk(with: reception, keys: keys)
        try #require(
            eventually { Self.fields(capture, reception.port, keys: keys, "tls.record.content_type").contains("21") })
        tcpdump.kill()
        var status = stat()
        #expect(stat(keys, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let clear = Self.fields(capture, reception.port, keys: nil, "tcp.payload", of: "tcp.len > 0").joined()
        #expect(clear.hasPrefix(Self.hex("220 ready\r\nSTARTTLS\r\n220 go ahead\r\n")))
        #expect(!clear.contains(Self.hex("secret")))
        let decrypted = Self.fields(capture, reception.port, keys: keys, "data.data").joined()
        #expect(
            decrypted.contains(Self.hex("the secret question")) && decrypted.contains(Self.hex("the secret answer")))
        let hidden = Self.fields(capture, reception.port, keys: nil, "data.data").joined()
        #expect(!hidden.contains(Self.hex("secret")))
    }

    private func talk(with reception: Reception, keys: String) throws {
        let client = Recorder()
        let socket = try reception.connect(client)
        socket.read(ReadRequest(.delimiter([10], limit: 100), tag: 1))
        try #require(eventually { client.received == Array("220 ready\r\n".utf8) })
        socket.write(Array("STARTTLS\r\n".utf8))
        socket.read(ReadRequest(.delimiter([10], limit: 100), tag: 2))
        try socket.startTLS(.testClient(nil).with { $0.keyLogFile = keys })
        socket.write(Array("the secret question\r\n".utf8))
        socket.read(ReadRequest(.delimiter([10], limit: 100), tag: 3))
        try #require(eventually { client.calls.contains(.text("the secret answer\r\n", tag: 3)) })
        socket.disconnect()
        try #require(eventually { client.isDisconnected })
    }

    private static func hex(_ text: String) -> String {
        text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// One field of every packet that has it.
    private static func fields(
        _ capture: String, _ port: UInt16, keys: String?, _ field: String, of filter: String = "tls"
    ) -> [String] {
        var words = ["tshark", "-r", capture, "-d", "tcp.port==\(port),tls", "-T", "fields", "-e", field, "-Y", filter]
        if let keys { words += ["-o", "tls.keylog_file:\(keys)"] }
        let output = (try? ChildProcess.run(words))?.output ?? ""
        return output.split { $0 == "\n" || $0 == "," }.map(String.init)
    }
}
