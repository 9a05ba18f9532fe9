import Glibc
import InspectorCore
import SocketCore
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// What is told of a connection whose ends are in two network namespaces.
@Suite(
    "Why, across namespaces", .serialized, .enabled(if: NamespacePair.isPossible, "\(NamespacePair.need)"),
    .timeLimit(.minutes(10)))
struct NamespaceWhyTests {
    @Test("a client that is stuck in send here is told which program there does not read")
    func guilty() throws {
        let pair = try NamespacePair()
        var watch = HostWatch(HostOptions(), LintSettings())
        let answer = try #require(try HostRun.why(.process(pair.client), HostOptions(), &watch))
        let verdict = try #require(answer.found.first { $0.lint == "write-blocked" })
        #expect(verdict.severity == .warning && verdict.evidence == .arguments)
        #expect(verdict.processes.map(\.number) == [pair.server, pair.client])
        let inode = watch.look.namespaces.values.map(\.inode)
        #expect(Set(inode).count == inode.count && inode.count >= 3)
        let text = answer.lines.joined(separator: "\n")
        #expect(text.contains("[\(pair.server)] has left") && text.contains("(netns "), "\(text)")
        // Loopback connections of both namespaces have the same addresses.
        for process in [pair.client, pair.server] {
            let near = try #require(
                watch.look.sockets.first { socket in
                    socket.peer?.port == 7_000 && watch.look.owners[socket.inode]?.first?.process == process
                })
            let far = try #require(watch.judge.peer(of: near.id))
            #expect(far.namespace == near.namespace && watch.judge.shown(far.id)?.host.owners.contains(process) == true)
        }
    }

    @Test("where nothing is found, what was looked at is said")
    func places() throws {
        var options = HostOptions()
        #expect(HostWatch(options, LintSettings()).place == "on this host")
        options.namespace = getpid()
        let watch = HostWatch(options, LintSettings())
        #expect(watch.place == "in the network namespace of process \(getpid())")
        #expect(HostRun.nothing(.port(9), watch) == "no socket \(watch.place) has :9 at either end")
    }

    @Test("a program that runs is told apart from one that does not, by its name")
    func names() throws {
        let folder = try TemporaryFolder()
        let name = "quiet-\(getpid())"
        try #require(symlink("/bin/sleep", folder.path + "/" + name) == 0)
        let watch = HostWatch(HostOptions(), LintSettings())
        #expect(HostRun.nothing(.name(name), watch) == "no program is named \(name)")
        let program = try Peer([folder.path + "/" + name, "1000"])
        let words = "\(name)[\(program.process)] has no visible sockets"
        #expect(eventually { HostRun.nothing(.name(name), watch) == words })
    }

    @Test("the sockets of one namespace are listed by a filter")
    func filter() throws {
        let pair = try NamespacePair()
        var (watch, rows) = (HostWatch(HostOptions(), LintSettings()), HostRows())
        try watch.see(readsPrograms: true, processes: [pair.server])
        let snapshot = rows.snapshot(of: watch.look, by: watch.judge, [], wallNanoseconds: 0)
        let server = try #require(
            snapshot.sockets.first { socket in
                // Other tests may have namespaces like these.
                socket.local?.port == NamespacePair.serverPort && socket.host?.owners.contains(pair.server) == true
            })
        let inode = try #require(server.host?.namespace?.inode)
        let filter = try Filter.parse("netns:\(inode)").get()
        let listed = filter.matching(snapshot.sockets, snapshot.time, Findings(LintSettings()))
        #expect(listed.count >= 5 && listed.allSatisfy { $0.host?.namespace?.inode == inode })
        #expect(listed.contains { $0.id == server.id } && listed.count < snapshot.sockets.count)
    }
}
