import SocketCore
import Testing

@testable import InspectorCore
@testable import InspectorScreen

/// Sockets of several network namespaces.
@Suite("Sockets of several network namespaces")
struct HostPairTests {
    /// A client here that is stuck in send, and a server in another namespace that does not read: sockets 2 and 3, behind
    /// a listener there.
    static func veth() -> HostWorld {
        var world = HostWorld()
        world.namespaces = [
            0: HostNamespace(ordinal: 0, inode: 4_026_531_840),
            1: HostNamespace(ordinal: 1, inode: 4_026_532_201, name: "blue"),
        ]
        world.program(81, "client.py", .sends(3))
        world.program(4711, "server.py", .futex)
        _ = world.listen(4711, 3, port: 9000)
        let (client, server) = world.connect((81, 3), (4711, 4), port: 9000)
        world.jam(client, into: server)
        let counted = world[server].tcp?.received
        world[client].tcp?.acknowledged = counted
        for id in [1, server] { world[id].namespace = 1 }
        let near = SocketAddress.v4(host: "10.9.0.1", port: 40_000),
            far = SocketAddress.v4(host: "10.9.0.2", port: 9000)
        (world[client].local, world[client].peer) = (near, far)
        (world[server].local, world[server].peer) = (far, near)
        return world
    }

    private func judge(_ world: HostWorld) -> HostJudge { world.judged(at: [10]).judge }

    @Test("the other end is found across namespaces, and named in the verdict")
    func across() throws {
        let world = Self.veth()
        let judge = judge(world)
        #expect(judge.peer(of: 2)?.id == 3 && judge.peer(of: 3)?.id == 2)
        #expect(judge.isServerSide(3) && !judge.isServerSide(2))
        let found = world.found()
        #expect(found.map(\.lint) == ["write-blocked"] && found.first?.processes.map(\.number) == [4711, 81])
        let paragraph = HostParagraph.lines(try #require(found.first)).joined(separator: "\n")
        #expect(paragraph.contains("server.py fd 4: ") && paragraph.contains("3.9M unread (netns blue)"))
        #expect(!paragraph.contains("own"))
    }

    @Test("loopback connections of two namespaces that are alike are never taken for one")
    func loopback() {
        var world = HostWorld()
        world.program(81, "a")
        world.program(82, "b")
        let one = world.connect((81, 3), (81, 4), port: 80)
        let two = world.connect((82, 3), (82, 4), port: 80)
        for (id, model) in [(two.client, one.client), (two.server, one.server)] {
            (world[id].local, world[id].peer) = (world[model].local, world[model].peer)
            world[id].namespace = 1
        }
        let both = judge(world)
        #expect(both.peer(of: one.client)?.id == one.server && both.peer(of: two.client)?.id == two.server)
        #expect(both.peer(of: one.server)?.id == one.client && both.peer(of: two.server)?.id == two.client)
        // Neither when one end is all that each has, nor where both are the same address.
        world[one.client].peer = .v4(host: "127.0.0.1", port: 81)
        world[two.server].peer = .v4(host: "127.0.0.1", port: 82)
        let halves = judge(world)
        #expect(halves.peer(of: one.server) == nil && halves.peer(of: two.client) == nil)
        for (id, local, peer) in [(one.server, 80, 40_000), (two.client, 40_000, 80)] as [(UInt64, UInt16, UInt16)] {
            world[id].local = .v4(host: "10.0.0.1", port: local)
            world[id].peer = .v4(host: "10.0.0.1", port: peer)
        }
        #expect(judge(world).peer(of: one.server) == nil && judge(world).peer(of: two.client) == nil)
    }

    @Test("private networks that are alike tell no pair, but the own namespace does")
    func alike() {
        var world = Self.veth()
        world.program(82, "other.py")
        let twin = world.connect((82, 3), nil, port: 9000).client
        (world[twin].local, world[twin].peer, world[twin].namespace) = (world[2].local, world[2].peer, 2)
        #expect(
            judge(world).peer(of: 2) == nil && judge(world).peer(of: 3) == nil && judge(world).peer(of: twin) == nil)
        world[twin].namespace = 1
        #expect(judge(world).peer(of: 3)?.id == twin && judge(world).peer(of: twin)?.id == 3)
        #expect(judge(world).peer(of: 2) == nil)
    }

    @Test("a listener of another namespace makes no server side, and its connections are its own")
    func listeners() {
        var world = HostWorld()
        world.program(81, "web")
        world.program(82, "other")
        let listener = world.listen(81, 3, port: 80)
        let (client, server) = world.connect((82, 3), nil, port: 80)
        world[listener].receiveQueue = 1
        #expect(judge(world).isServerSide(server) && !judge(world).isServerSide(client))
        let found = world.judged(at: [10, 20, 30, 40, 50]).found
        #expect(found.map(\.lint) == ["accept-stuck"])
        world[listener].namespace = 1
        #expect(!judge(world).isServerSide(server))
        #expect(world.judged(at: [10, 20, 30, 40, 50]).found.isEmpty)
    }

    @Test("ports run out in each namespace by itself")
    func ports() {
        var world = HostWorld()
        world.localPorts = 50_000...50_019
        world.namespaces[1] = HostNamespace(ordinal: 1, inode: 7)
        world.program(81, "wrk", .epoll(4))
        for number in 0..<19 as Range<UInt16> {
            let id = world.reach((81, 10 + Int32(number)), port: 443)
            world[id].local = .v4(host: "127.0.0.1", port: 50_000 + number)
            if number % 2 == 0 { world[id].namespace = 1 }
        }
        #expect(world.found().isEmpty)
        for id in world.look(10).sockets.map(\.id) { world[id].namespace = 1 }
        #expect(world.found().isEmpty)
        world.namespaces[1]?.localPorts = 50_000...50_019
        #expect(world.found().map(\.lint) == ["ports-exhausted"])
    }

    @Test("rows say which namespace they are in, to filters, in JSON and in a column of their own")
    func rows() throws {
        var world = Self.veth()
        let twin = world.connect((81, 9), nil, port: 1).client
        var look = world.look(10)
        // As a kernel does that counts cookies for each namespace of its own.
        look.sockets = look.sockets.map { socket in
            guard socket.id == twin else { return socket }
            var socket = socket
            socket.id = 2
            return socket.placed(in: 1)
        }
        var (judge, rows) = (HostJudge(), HostRows())
        judge.absorbExamined(look)
        let snapshot = rows.snapshot(of: look, by: judge, [], wallNanoseconds: 0)
        #expect(snapshot.sockets.count == 5 && snapshot.sockets.count { $0.host?.cookie == 2 } == 2)
        func listed(_ text: String) throws -> Int {
            try Filter.parse(text).get().matching(snapshot.sockets, snapshot.time, Findings(LintSettings())).count
        }
        #expect(try listed("netns:blue") == 3 && listed("netns:own") == 2 && listed("netns:40265") == 5)
        #expect(try listed("netns:green") == 0 && listed("!netns:blue") == 2)
        // A port finds what has it at either end.
        let port = try #require(snapshot.sockets.compactMap(\.local?.port).first { $0 > 1 })
        let those = snapshot.sockets.count { [$0.local, $0.peer].contains { $0?.port == port } }
        #expect(try listed(":\(port)") == those && those > 1)
        let row = try #require(snapshot.sockets.first { $0.host?.namespace?.ordinal == 1 })
        #expect(rows.id(of: try #require(row.host).key) == row.id)
        let json = JSON.object(SocketJSON(clock: WallClock()).members(row)).text
        #expect(json.contains(#""netns":"blue","netns_inode":4026532201"#))
        func hasColumn(_ width: Int, _ rare: Set<String>) -> Bool {
            ListLayout(.host, width: width, idWidth: 4, optional: rare).places.contains { $0.column.name == "netns" }
        }
        #expect(hasColumn(80, ["netns"]) && !hasColumn(80, []) && !hasColumn(40, ["netns"]))
        #expect(ListKind.host.rare(in: snapshot.sockets.map { Listed($0) }, World.sight).contains("netns"))
    }

    @Test("the worst is the first row of a host, and sockets in TIME-WAIT are one row unless they are asked for")
    func firstRows() {
        var world = HostPictures.world
        for port in 0..<3_000 { world.wait(port: 30_000 + UInt16(port)) }
        var model = HostPictures.model(Size(80, 24), "1", of: world)
        let rows = draw(model, model.size).text.split(separator: "\n").map(String.init)
        #expect(rows[3].hasSuffix("!!"), "\(rows[3])")
        _ = model.update(.resized(Size(80, 50)))
        let all = draw(model, model.size).text.split(separator: "\n")
        #expect(all.contains { $0.contains("3000 sockets") && $0.contains("TIMEWA") })
        #expect(model.list.rows.count < 20)
        _ = model.update(.command("filter state:time-wait"))
        #expect(model.list.rows.count == 3_000)
        _ = model.update(.command("sort unread"))
        #expect(model.notice?.isError == false && model.list.sorting.column.name == "unread")
    }

    @Test("a reset across namespaces has no cause, since the kernel does not tell which end closed first")
    func order() {
        var world = Self.veth()
        world.namespaces[1] = nil
        world[2].sendQueue = 0
        world.program(4711, "server.py")
        func judged(_ closed: [UInt64]) -> [Verdict] {
            var judge = HostJudge()
            judge.absorbExamined(world.look(10))
            var look = world.look(11)
            look.sockets.removeAll { closed.contains($0.id) }
            look.closings = closed.map { id in
                var socket = world[id]
                (socket.state, socket.inode) = (.closed, 0)
                return socket
            }
            judge.absorbExamined(look)
            return judge.verdicts().found.filter { $0.lint == "reset-cause" }
        }
        #expect(judged([3]).count == 1 && judged([3, 2]).isEmpty)
        world[3].namespace = 0
        #expect(judged([3, 2]).count == 1)
    }

    @Test("namespaces that were not looked at are counted")
    func hidden() {
        var hidden = HostLook.Hidden()
        hidden.namespaces = 2
        #expect(
            HostCheck.summary([], sockets: 9, namespaces: 64, hidden: hidden)
                == "0 problems, 0 notes in 9 sockets of 64 network namespaces; not checked: 2 network namespaces")
    }
}
