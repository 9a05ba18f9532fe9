import Glibc
import HostSockets
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// A listening descriptor on which nothing is ever accepted.
private final class OpenSocket {
    let descriptor: Int32

    init(listeningOn address: SocketAddress, backlog: Int) throws {
        let kernel = LinuxKernel()
        guard case .bytes(let opened) = kernel.openStream(for: address) else { throw PeerFailure(errno: errno) }
        descriptor = Int32(opened)
        try #require(kernel.bind(descriptor, to: address) == 0)
        try #require(kernel.listen(descriptor, backlog: Int32(backlog)) == 0)
    }

    deinit { close(descriptor) }
}

@Suite("What the start screen offers")
struct StartTests {
    @Test("a listener of this process is found with its program")
    func own() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        try #require(listen(listener, 1) == 0)
        // However many the other tests of this process have meanwhile.
        let found = AddressOwners().listeners(limit: .max, budget: .seconds(60))
        #expect(found.contains { $0.program?.process == Int(getpid()) && $0.program?.descriptor == listener })
    }

    @Test("ages in words")
    func ages() {
        let words = [5, 60, 7200, 90_000, 3 * 86_400, 15 * 86_400, 90 * 86_400, -50].map {
            RecentTargets.age(of: 1_000_000_000 - $0, now: 1_000_000_000)
        }
        #expect(
            words == [
                "just now", "1 minute ago", "2 hours ago", "yesterday", "3 days ago", "2 weeks ago", "3 months ago",
                "just now",
            ])
    }

    @Test("any time that the file says has an age", arguments: [Int.min, Int.min + 1, -1, 0, Int.max])
    func extremeAges(time: Int) {
        for now in [Int.min, 0, 1_000_000_000, Int.max] { #expect(!RecentTargets.age(of: time, now: now).isEmpty) }
    }

    @Test("a listener says which program has its address")
    func holders() throws {
        let reception = try Reception(accepting: Recorder())
        let words = "[\(getpid())] uses 127.0.0.1:\(reception.port)"
        #expect(eventually { AddressInUse.holder(of: reception.port, host: "127.0.0.1")?.hasSuffix(words) == true })
        #expect(AddressInUse.holder(of: reception.port, host: "") != nil)
        #expect(AddressInUse.holder(of: reception.port, host: "127.0.0.9") == nil)
        #expect(AddressInUse.holder(of: try Peer.freePort(), host: "127.0.0.1") == nil)
    }

    @Test("a listener on localhost is in the way of none but those of the same address, or of every address")
    func localHolders() throws {
        func listener(_ address: SocketAddress) throws -> (socket: OpenSocket, port: UInt16) {
            let socket = try OpenSocket(listeningOn: address, backlog: 1)
            return (socket, LinuxKernel().localAddress(socket.descriptor)?.port ?? 0)
        }
        let other = try listener(.v4(host: "127.0.0.9", port: 0))
        #expect(AddressInUse.holder(of: other.port, host: "localhost") == nil)
        #expect(AddressInUse.holder(of: other.port, host: "*")?.hasSuffix("uses 127.0.0.9:\(other.port)") == true)
        let same = try listener(.v4(host: "127.0.0.1", port: 0))
        #expect(AddressInUse.holder(of: same.port, host: "localhost")?.hasSuffix("uses 127.0.0.1:\(same.port)") == true)
        let every = try listener(.v4(host: "0.0.0.0", port: 0))
        #expect(AddressInUse.holder(of: every.port, host: "localhost")?.hasSuffix("uses 0.0.0.0:\(every.port)") == true)
        #expect(AddressInUse.holder(of: every.port, host: "::1") == nil)
    }

    @Test("programs that do not answer are named as such, and hide no others")
    func stoppedPrograms() throws {
        let folder = try TemporaryFolder()
        // Half of them have no room for another viewer beside the look for programs that have ended.
        let stopped = try (10..<26).map { number in
            try OpenSocket(listeningOn: .unix(path: "\(folder.path)/\(number)-1.sock"), backlog: number % 2)
        }
        let engine = SocketEngine()
        let inspection = try SocketInspection.serve(
            engine, rights: .watch, folder: folder.path, program: "zz-chatd")
        var entries: [AttachablePrograms.Entry] = []
        let hasAnswered = eventually {
            entries = AttachablePrograms.list(in: folder.path)
            return entries.contains { $0.hello != nil }
        }
        #expect(hasAnswered)
        #expect(entries.count == stopped.count + 1)
        #expect(entries.count { $0.hello == nil } == stopped.count)
        #expect(entries.first { $0.hello != nil }?.program == "zz-chatd")
        let table = AttachablePrograms.table(entries)
        #expect(table.contains("does not answer") && table.contains("zz-chatd"))
        #expect(eventually { (try? AttachablePrograms.paths(for: "zz-chatd", in: folder.path)) == [inspection.path] })
        withExtendedLifetime((engine, stopped)) {}
    }

    @Test("an attached program has answered once it has told all it can, be there nothing to tell of")
    func answered() throws {
        let folder = try TemporaryFolder()
        let engine = SocketEngine()
        let inspection = try SocketInspection.serve(engine, rights: .watch, folder: folder.path)
        let programs = SourceList()
        let answers = Lock<[SocketError?]>([])
        programs.attach(inspection.path) { @Sendable error in answers.withLock { $0.append(error) } }
        #expect(eventually { answers.withLock { $0 } == [nil] } && !programs.hasAnswered)
        let snapshots = Lock<[EngineSnapshot]>([])
        programs.requestSnapshot(SnapshotRequest(kernel: .all)) { @Sendable snapshot in
            snapshots.withLock { $0.append(snapshot) }
        }
        #expect(eventually { programs.hasAnswered })
        #expect(snapshots.withLock { $0.allSatisfy(\.sockets.isEmpty) })
        programs.close()
        withExtendedLifetime((engine, inspection)) {}
    }

    @Test("only regular files of bounded length are read, and a device or a pipe holds nobody up")
    func textFiles() throws {
        let folder = try TemporaryFolder()
        func problem(_ path: String, limit: Int = 100) -> TextFile.Problem? {
            do throws(TextFile.Problem) {
                _ = try TextFile.contents(of: path, limit: limit)
                return nil
            } catch {
                return error
            }
        }
        try #require(mkfifo(folder.path + "/pipe", 0o600) == 0)
        folder.write("0123456789", to: "text")
        FileOutput.write([0x61, 0, 0x62], to: open(folder.path + "/zero", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
        #expect(problem(folder.path + "/pipe") == .notRegular && TextFile.read(folder.path + "/pipe") == nil)
        #expect(try TextFile.contents(of: "/dev/null").isEmpty && problem("/dev/null") == nil)
        #expect(problem("/dev/full") == .notRegular && TextFile.read("/dev/zero") == nil)
        #expect(problem(folder.path) == .notRegular)
        #expect(problem(folder.path + "/none") == .system(ENOENT))
        #expect(problem(folder.path + "/text") == nil && problem(folder.path + "/text", limit: 9) == .tooLong(9))
        #expect(problem(folder.path + "/zero") == .notText)
        #expect(TextFile.read("/proc/self/comm", limit: 64)?.isEmpty == false)
    }

    @Test("templates: where they are looked for, and every reason why there are none")
    func templates() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/templates"
        func told() -> [(from: String?, problem: String?)] {
            TemplateFile.read(path).compactMap {
                if case .templates(_, let from, let problem) = $0 { (from, problem) } else { nil }
            }
        }
        #expect(told().first?.from == path && told().first?.problem == nil)
        folder.write("ping = \"PING\"\n", to: "templates")
        #expect(told().first?.problem?.hasPrefix("\(path):1:1: each template is a table") == true)
        #expect(TemplateFile.read(path).count == 2, "it is said at once, too")
        #expect(TemplateFile.read(nil).isEmpty)
        unlink(path)
        try #require(mkdir(path, 0o700) == 0)
        #expect(told().first?.problem == "\(path): is not a regular file")
    }

    @Test("recent targets: newest first, once each, twenty at most, for their owner only")
    func recent() throws {
        let folder = try TemporaryFolder()
        let recent = RecentTargets(path: folder.path + "/a/b/recent")
        #expect(recent.offers().isEmpty)
        for number in 1...25 { recent.add("host:\(number)", now: 1000 + number) }
        recent.add("host:10", now: 2000)
        recent.add("bad\ttext", now: 2001)
        let offers = recent.offers(now: 2060)
        #expect(offers.count == 20)
        #expect(offers.prefix(2).map(\.text) == ["host:10", "host:25"])
        #expect(offers.first?.age == "1 minute ago")
        var status = stat()
        try #require(stat(recent.path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test("what cannot be written is silent")
    func unwritable() {
        let recent = RecentTargets(path: "/proc/nowhere/recent")
        recent.add("host:1")
        #expect(recent.offers().isEmpty)
    }
}
