import Glibc

/// Two network namespaces of their own, which a pair of virtual Ethernet devices connects. In each is a loopback connection
/// from port 7001 to 7000; in the second is a server that never reads, and in the first its client, which is in send.
package final class NamespacePair {
    private let program: RunningProgram
    package let client: Int32
    package let server: Int32

    package struct NotReady: Error { package var text: String }

    package static let serverPort: UInt16 = 9_000
    package static let need = "network namespaces need root, and ip"

    package static var isPossible: Bool {
        geteuid() == 0 && ["/sbin", "/usr/sbin", "/bin", "/usr/bin"].contains { access("\($0)/ip", X_OK) == 0 }
    }

    private static let script = """
        from ctypes import CDLL; import os, signal, socket, subprocess
        libc = CDLL(None)
        os.closerange(3, 4096)  # what tests beside this one have open without O_CLOEXEC
        def ip(*words): subprocess.run(["ip", *words], check=True)
        def enter():
            assert libc.unshare(0x40000000) == 0, "unshare"
            ip("link", "set", "lo", "up")
        def own():
            near = socket.socket(); near.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener = socket.create_server(("127.0.0.1", 7000))
            near.bind(("127.0.0.1", 7001)); near.connect(("127.0.0.1", 7000))
            return listener, near, listener.accept()[0]
        def up(name, address):
            ip("addr", "add", address + "/24", "dev", name); ip("link", "set", name, "up")
        enter()
        (down_in, down), (up_in, there) = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            libc.prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
            enter()
            kept = own()
            six = socket.create_server(("::1", 7002), family=socket.AF_INET6)
            datagrams = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); datagrams.bind(("::1", 7003))
            os.write(there, b"1"); os.read(down_in, 1)
            up("vb", "10.9.0.2")
            server = socket.create_server(("10.9.0.2", 9000))
            os.write(there, b"2")
            far, _ = server.accept()
            os.write(there, b"3")
            while True: signal.pause()
        kept = own()
        os.read(up_in, 1)
        ip("link", "add", "va", "type", "veth", "peer", "name", "vb", "netns", str(child))
        up("va", "10.9.0.1")
        os.write(down, b"1"); os.read(up_in, 1)
        client = socket.create_connection(("10.9.0.2", 9000))
        os.read(up_in, 1)  # until it is accepted, the server's end is nobody's
        print("ready", child, flush=True)
        try: client.sendall(bytes(64 << 20))
        except OSError: client.close()
        while True: signal.pause()
        """

    package init() throws {
        let program = try RunningProgram(["python3", "-c", Self.script])
        _ = eventually { program.text.contains("ready") && program.text.hasSuffix("\n") }
        let words = program.text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, words[0] == "ready", let child = Int32(words[1]) else {
            throw NotReady(text: program.text)
        }
        (self.program, client, server) = (program, program.process, child)
    }

    /// Ends the server, and with it the namespace that it is in.
    package func stopServer() { kill(server, SIGKILL) }

    /// Whether the client's network device is there, which goes with the namespace of the server.
    package var hasDevice: Bool {
        (try? ChildProcess.run(["nsenter", "-n", "-t", "\(client)", "ip", "link", "show", "va"]))?.status == 0
    }
}
