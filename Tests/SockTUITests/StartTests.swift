import Glibc
import SocketTestSupport
import Testing

@testable import SockTUI

@Suite("What the start screen offers")
struct StartTests {
    @Test("listening sockets from the kernel's table, in both families")
    func tables() {
        let v4 = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100
               1: 0100007F:18EB 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 20
               2: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0 100
               3: garbage
            """
        #expect(
            HostListeners.entries(v4) == [
                HostListeners.Entry(address: "127.0.0.1:6379", inode: 4711),
                HostListeners.Entry(address: "0.0.0.0:80", inode: 4713),
            ])
        let v6 = """
              sl  local_address remote_address st
               0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 99 1
            """
        #expect(HostListeners.entries(v6) == [HostListeners.Entry(address: "[::1]:8080", inode: 99)])
    }

    @Test("a listener of this process is found with its program")
    func own() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        try #require(listen(listener, 1) == 0)
        // However many the other tests of this process have meanwhile.
        #expect(HostListeners.find(limit: .max, descriptors: .max).contains { $0.program.hasSuffix("[\(getpid())]") })
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
