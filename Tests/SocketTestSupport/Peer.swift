import Glibc
import SocketKit

/// A program that runs beside a test as the other end of its sockets. What is written to it goes to its stdin, what it
/// prints is gathered; released, it is killed.
package final class Peer {
    /// Its number.
    package let process: pid_t
    private let words: [String]
    /// Our end of its stdin and stdout. A socket and no pipe, since only that can be made closed to other children.
    private let line: Int32
    private let errors: Int32
    /// Released when the program is gone.
    private let folder: TemporaryFolder?
    private var gathered: [UInt8] = []
    private var outputHasEnded = false
    private var status: Int32?

    /// Whether all these programs can be had. Where peers are required (`REQUIRE_PEERS=1`) this is true all the same, so
    /// that their absence fails the tests instead of skipping them.
    package static func isUsable(_ programs: String...) -> Bool {
        areRequired || programs.allSatisfy { path(of: $0) != nil }
    }

    /// Whether tests must not skip what they need.
    package static var areRequired: Bool { getenv("REQUIRE_PEERS").map { String(cString: $0) } == "1" }

    /// Where a program lies; servers may lie where only root's PATH leads.
    private static func path(of program: String) -> String? {
        let folders = (getenv("PATH").map { String(cString: $0) } ?? "") + ":/usr/local/sbin:/usr/sbin:/sbin"
        return folders.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }

    /// Python itself. What PATH has as `python3` may be a script that runs a dozen programs before it, whose calls and
    /// processes a test of a program's calls and processes would count.
    package static let python: String = {
        let said = try? ChildProcess.run(["python3", "-c", "import sys; print(sys.executable)"])
        return said.flatMap { $0.output.split(separator: "\n").first.map(String.init) } ?? "python3"
    }()

    /// Starts a program; `folder` is kept as long as it runs.
    package init(_ words: [String], keeping folder: TemporaryFolder? = nil) throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw PeerFailure(errno: errno) }
        defer { close(ends[1]) }
        self.words = words
        self.folder = folder
        line = ends[0]
        errors = try ChildProcess.scratchFile()
        let program = Self.path(of: words[0]) ?? words[0]
        process = try ChildProcess.spawn([program] + words.dropFirst(), [:], input: ends[1], [ends[1], errors])
    }

    deinit {
        kill()
        close(line)
        close(errors)
    }

    /// Ends it at once, unless it is gone, and waits until it is.
    package func kill() {
        guard !hasEnded else { return }
        Glibc.kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        self.status = status
    }

    /// Starts a server on a free port and waits until it listens there. Where another took the port first, it tries
    /// another one.
    package static func server(
        keeping folder: TemporaryFolder? = nil, _ words: (UInt16) throws -> [String]
    ) throws -> (peer: Peer, port: UInt16) {
        var complaint = ""
        for _ in 0..<3 {
            let port = try freePort()
            let peer = try Peer(try words(port), keeping: folder)
            if eventually({ peer.hasEnded || ProcessFacts.isListening(port) }), !peer.hasEnded { return (peer, port) }
            complaint = "\(peer.words): \(peer.complaints) \(String(decoding: peer.output, as: UTF8.self))"
        }
        throw ChildProcess.Failure(description: "does not listen: \(complaint)")
    }

    /// A redis-server with nothing in it.
    package static func redis() throws -> (peer: Peer, port: UInt16) {
        let folder = try TemporaryFolder()
        return try server(keeping: folder) { port in
            [
                "redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--dir", folder.path, "--save", "",
                "--appendonly", "no",
            ]
        }
    }

    /// A TCP port that is free on both loopback addresses, below those that the kernel hands out by itself.
    package static func freePort() throws -> UInt16 {
        let kernel = LinuxKernel()
        for _ in 0..<1_000 {
            let port = UInt16.random(in: 20_000..<32_000)
            let addresses: [SocketAddress] = [.v4(host: "127.0.0.1", port: port), .v6(host: "::1", port: port)]
            let isFree = addresses.allSatisfy { address in
                guard case .bytes(let descriptor) = kernel.openStream(for: address) else { return true }
                defer { close(Int32(descriptor)) }
                return kernel.bind(Int32(descriptor), to: address) != EADDRINUSE
            }
            if isFree { return port }
        }
        throw PeerFailure(errno: EADDRINUSE)
    }

    /// Writes all bytes to its stdin.
    package func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { send(line, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw PeerFailure(errno: errno) }
            sent += count
        }
    }

    /// Writes all of a text to its stdin.
    package func write(_ text: String) throws {
        try write(Array(text.utf8))
    }

    /// Ends its stdin.
    package func endInput() {
        shutdown(line, Int32(SHUT_WR))
    }

    /// All that it has printed so far.
    package var output: [UInt8] {
        gather()
        return gathered
    }

    /// Whether it has ended its stdout.
    package var hasEndedOutput: Bool {
        gather()
        return outputHasEnded
    }

    private func gather() {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = recv(line, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count >= 0 {
            outputHasEnded = count == 0
            if outputHasEnded { return }
            gathered += buffer[..<count]
        }
    }

    /// What it wrote to stderr.
    package var complaints: String { ChildProcess.text(of: errors) }

    /// The signal that ended it; `nil`: it is not known to be gone, or it exited.
    package var endSignal: Int32? { status.flatMap { $0 & 0x7F == 0 ? nil : $0 & 0x7F } }

    /// Its exit status; `nil`: it is not known to be gone, or a signal ended it.
    package var exitStatus: Int32? { status.flatMap { $0 & 0x7F == 0 ? $0 >> 8 & 0xFF : nil } }

    /// Whether it is gone.
    package var hasEnded: Bool {
        if status != nil { return true }
        var status: Int32 = 0
        if waitpid(process, &status, WNOHANG) == process { self.status = status }
        return self.status != nil
    }
}
