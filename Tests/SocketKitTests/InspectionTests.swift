import Glibc
import SocketRecords
import SocketTestSupport
import Testing

@testable import SocketKit

@Suite("Being inspected", .timeLimit(.minutes(10)))
struct InspectionTests {
    /// An engine with a connection on either end, served in a folder of its own.
    private final class Served {
        let engine: SocketEngine
        let reception: Reception
        let recorder = Recorder()
        let client: AsyncSocket
        let folder: TemporaryFolder
        let inspection: SocketInspection

        init(_ rights: InspectionRights = .watch) throws {
            engine = SocketEngine()
            reception = try Reception(
                engine: engine, accepting: Recorder(onAccept: { [recorder] in $0.delegate = recorder }))
            client = try reception.connect()
            folder = try TemporaryFolder()
            inspection = try SocketInspection.serve(
                engine, rights: rights, folder: folder.path + "/s", program: "chatd")
            try #require(eventually { self.reception.accepting.sockets.count == 1 })
        }

        var accepted: AsyncSocket { reception.accepting.sockets[0] }

        func attach() throws -> InspectionClient { try InspectionClient(inspection.path) }
    }

    @Test("a viewer sees every session, and what changes")
    func watching() throws {
        let served = try Served()
        let viewer = try served.attach()
        #expect(viewer.sees { $0.sockets.count == 3 })
        served.client.write([1, 2, 3])
        let id = try #require(served.accepted.session)
        served.accepted.read(ReadRequest(.length(3)))
        #expect(viewer.sees { $0.sockets.first { $0.id == id }?.received == 3 })
        served.client.disconnect()
        #expect(viewer.sees { $0.sockets.count { $0.phase == .closed } == 2 })
    }

    @Test("what the picture says is what the engine says")
    func sameAsInProcess() throws {
        let served = try Served(.payload)
        let viewer = try served.attach()
        served.accepted.read(ReadRequest(.delimiter([10], limit: 99), tag: 7))
        for tag in 1...3 { served.accepted.read(ReadRequest(.length(tag), timeout: .seconds(99), tag: tag)) }
        served.client.write([1, 2, 3])
        var watch = InspectionWatch()
        watch.sockets = served.engine.snapshot().sockets.map(\.id)
        viewer.watch(watch)
        func shape(_ snapshot: EngineSnapshot) -> [SocketSnapshot] {
            snapshot.sockets.map { socket in
                var socket = socket
                (socket.receiveRate, socket.sendRate, socket.kernel) = (nil, nil, nil)
                (socket.activity.operationRate, socket.activity.queueRate) = (nil, nil)
                return socket
            }
        }
        #expect(
            viewer.sees { shape($0) == shape(served.engine.snapshot()) && $0.sockets.contains { $0.kernel != nil } })
    }

    @Test("more sessions than are told in one piece are all there, with their endings in order")
    func many() throws {
        let served = try Served()
        let count = SnapshotRequest.Changes.limit * 2
        let clients = try (0..<count).map { _ in try served.reception.connect() }
        #expect(eventually { served.engine.snapshot().sockets.count == 2 * count + 3 })
        let viewer = try served.attach()
        #expect(viewer.sees { picture in picture.sockets.map(\.id) == served.engine.snapshot().sockets.map(\.id) })
        for client in clients.dropFirst(5) { client.write([1]) }
        for client in clients.prefix(5) { client.disconnect() }
        #expect(viewer.sees { picture in picture.sockets.count { $0.phase == .closed } == 10 })
        for accepted in served.reception.accepting.sockets { accepted.read(ReadRequest(.length(1))) }
        #expect(viewer.sees { picture in picture.sockets.count { $0.received == 1 } == count - 5 })
        #expect(viewer.mirror.seen?.sockets.map(\.id) == served.engine.snapshot().sockets.map(\.id))
    }

    @Test("a viewer that wants all has listings and the kernel's side of all, up to the limit, and of their ends too")
    func wantsAll() throws {
        let served = try Served()
        let viewer = try served.attach()
        var watch = InspectionWatch()
        watch.wantsAll = true
        viewer.watch(watch)
        #expect(viewer.sees { $0.sockets.count == 3 && $0.sockets.allSatisfy { $0.kernel != nil } })
        for _ in 0..<3 { served.accepted.read(ReadRequest(.length(9))) }
        #expect(viewer.sees { $0.sockets.contains { $0.reading.pendingCount == 2 && $0.reading.pending.count == 2 } })
        let clients = try (0..<InspectionWatch.limit).map { _ in try served.reception.connect() }
        #expect(viewer.sees { $0.sockets.count == 2 * clients.count + 3 })
        #expect(viewer.sees { $0.sockets.count { $0.kernel != nil } == InspectionWatch.limit })
        #expect(viewer.mirror.seen?.sockets.prefix(InspectionWatch.limit).allSatisfy { $0.kernel != nil } == true)
        for client in clients { client.disconnect() }
        #expect(viewer.sees { $0.sockets.count { $0.phase == .closed } == 2 * clients.count })
        watch.wantsAll = false
        viewer.watch(watch)
        #expect(viewer.sees { $0.sockets.allSatisfy { $0.kernel == nil && $0.reading.pending.isEmpty } })
    }

    @Test("a connection whose program forgot to read is seen to starve")
    func starving() throws {
        let served = try Served()
        let viewer = try served.attach()
        var watch = InspectionWatch()
        watch.sockets = [try #require(served.accepted.session)]
        viewer.watch(watch)
        served.client.write([UInt8](repeating: 7, count: 500))
        #expect(
            viewer.sees { picture in
                let socket = picture.sockets.first { $0.id == watch.sockets[0] }
                return socket?.kernel?.receiveQueue == 500 && socket?.reading.current == nil
                    && socket?.activity.unreadSince != nil
            })
    }

    @Test("events come with their numbers, those from before the viewer too")
    func events() throws {
        let served = try Served()
        let viewer = try served.attach()
        var watch = InspectionWatch()
        watch.wantsEvents = true
        viewer.watch(watch)
        var kinds: [SocketEvent.Kind] = []
        #expect(
            viewer.sees {
                kinds += $0.events.map(\.kind)
                return kinds.contains(.accepted) && kinds.contains(.connected)
            })
    }

    @Test("bytes are told only where the program gave that right")
    func payload() throws {
        for rights in InspectionRights.allCases {
            let served = try Served(rights)
            let viewer = try served.attach()
            var watch = InspectionWatch()
            watch.traffic = served.accepted.session
            viewer.watch(watch)
            #expect(viewer.sees { _ in true })
            served.accepted.read(ReadRequest(.available(limit: nil), isStanding: true))
            // What is kept begins when somebody looks: so it is said until it is seen.
            let isSeen = viewer.sees { picture in
                served.client.write(Array("secret".utf8))
                let isHeard = picture.sockets.contains { $0.received > 100 }
                return rights == .watch ? isHeard : picture.traffic?.items.contains { !$0.bytes.isEmpty } ?? false
            }
            #expect(isSeen)
            if rights == .watch { #expect(viewer.mirror.seen?.traffic?.items.isEmpty ?? true) }
        }
    }

    @Test("a command is carried out where the program gave that right, and else refused with a sentence")
    func control() throws {
        let served = try Served(.control)
        let viewer = try served.attach()
        let id = try #require(served.accepted.session)
        #expect(viewer.sees { _ in true })
        viewer.send(InspectionFrame.command(.write(id, WriteRequest([9], tag: 4))).bytes)
        viewer.send(InspectionFrame.command(.close(id, .afterWriting)).bytes)
        #expect(eventually { served.recorder.calls.contains(.wrote(tag: 4)) && served.recorder.isDisconnected })

        let other = try Served(.payload)
        let watcher = try other.attach()
        watcher.send(InspectionFrame.command(.close(try #require(other.accepted.session), .reset)).bytes)
        #expect(eventually { (try? watcher.take()) == true && watcher.others.count == 2 })
        #expect(watcher.others.last == .notice("chatd[\(getpid())] grants viewers only payload; nothing was done"))
        #expect(other.accepted.isConnected)
    }

    @Test("a socket that does not take a command is named to the viewer, and nothing is done")
    func commandOfAnotherSocket() throws {
        let served = try Served(.control)
        func refusal(_ command: SocketCommand) -> String? { served.engine.enter { $0.perform(ofViewer: command) } }
        let listener = try #require(served.engine.snapshot().sockets.first { $0.role == .listener }?.id)
        let id = try #require(served.accepted.session)
        #expect(
            refusal(.write(listener, WriteRequest([1])))
                == "\(listener) is a listener: write does not apply to it; nothing was done")
        #expect(refusal(.answerConnection(id, .accept))?.contains("is a connection: takeConnection") == true)
        #expect(refusal(.pauseReading(listener, true)) == nil && refusal(.halfClose(id)) == nil)
    }

    @Test("where much is queued for writing a viewer may still read, and close or ping a WebSocket")
    func longWriteQueue() throws {
        let served = try Served(.control)
        let id = try #require(served.accepted.session)
        func refusal(_ command: SocketCommand) -> String? {
            served.engine.enter { $0.perform(ofViewer: command) }
        }
        // Nobody reads at the other end, so that most of it stays queued.
        served.accepted.write([UInt8](repeating: 1, count: 64 << 20))
        #expect(refusal(.write(id, WriteRequest([1])))?.contains("too many for a viewer to add more") == true)
        #expect(refusal(.read(id, ReadRequest(.length(3), tag: 77))) == nil)
        #expect(served.engine.picture(of: id)?.reading.current?.tag == 77)

        let pair = try WebSocketPair()
        let webSocket = try #require(pair.client.session)
        func refused(_ command: WebSocketCommand) -> Bool {
            pair.engine.enter { $0.perform(ofViewer: .webSocket(webSocket, command)) } != nil
        }
        #expect(!refused(.begin(.binary)))
        let server = try #require(pair.server.session)
        pair.engine.enter { $0.perform(.pauseReading(server, true)) }
        let message = WebSocketMessage.binary([UInt8](repeating: 2, count: 10 << 20))
        for _ in 0..<5 { pair.engine.enter { $0.perform(.webSocket(webSocket, .message(message))) } }
        #expect(refused(.message(.binary([1]))) && refused(.append(OperationID(1), [1], isLast: false)))
        #expect(!refused(.append(OperationID(1), [], isLast: true)))
        #expect(!refused(.ping([])) && !refused(.pong([])) && !refused(.close(nil, reason: "")))
    }

    @Test("fifty attaches and detaches leave nothing behind")
    func attachesAndDetaches() throws {
        let served = try Served()
        for _ in 0..<50 {
            let viewer = try served.attach()
            #expect(viewer.sees { $0.sockets.count == 3 })
            viewer.close()
        }
        #expect(eventually { served.inspection.viewers == 0 && Self.sockets(named: served.inspection.path) == 1 })
        #expect(eventually { served.engine.enter { $0.notes == nil } })
    }

    /// Unix-domain sockets of that name that are open: the one that listens, and one for each viewer.
    private static func sockets(named path: String) -> Int {
        // It was bound before it got the name that others look for.
        let bound = path.dropLast(".sock".count)
        return ProcessFacts.text("/proc/net/unix").split(separator: "\n").count { $0.hasSuffix(" " + bound) }
    }

    @Test(
        "a viewer that does not read holds up neither the engine nor another viewer, and is right when it reads again")
    func stoppedViewer() throws {
        let served = try Served()
        let stopped = try served.attach()
        let viewer = try served.attach()
        served.accepted.read(ReadRequest(.available(limit: nil), isStanding: true))
        // More than the kernel's buffer between the two holds, were every update kept for it.
        var updates: UInt64 = 0
        #expect(
            viewer.sees { _ in
                served.client.write([1])
                updates = viewer.mirror.updates
                return updates >= 30
            })
        let last = served.engine.snapshot().sockets.map(\.received).max() ?? 0
        #expect(stopped.sees { ($0.sockets.map(\.received).max() ?? 0) >= last })
    }

    @Test("a viewer that is cut off in the middle of a frame is refused, and harms only itself")
    func cutOff() throws {
        let served = try Served()
        let viewer = try served.attach()
        #expect(viewer.sees { _ in true })
        viewer.send([0, 0, 1, 0, 16])
        viewer.close()
        #expect(eventually { served.inspection.lastRefusal?.hasSuffix("a frame is truncated") ?? false })
        #expect(try served.attach().sees { $0.sockets.count == 3 })
    }

    @Test("garbage, another version and silence about oneself are refused with a sentence on both sides")
    func refusals() throws {
        let served = try Served()
        let garbage = try InspectionClient(served.inspection.path, greets: false)
        garbage.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        #expect(garbage.refusal?.hasPrefix("the viewer's data cannot be read: a frame of ") ?? false)
        #expect(served.inspection.lastRefusal == garbage.refusal)
        let future = try InspectionClient(served.inspection.path, version: 2)
        #expect(
            future.refusal
                == "the viewer speaks version 2 of the inspection protocol, and chatd version 1; both sides need the same"
        )
        #expect(served.inspection.lastRefusal == future.refusal)
        let rude = try InspectionClient(served.inspection.path, greets: false)
        rude.send(InspectionFrame.watch(InspectionWatch()).bytes)
        #expect(rude.refusal == "the viewer did not identify itself")
    }

    @Test(
        "a stranger is refused with a sentence",
        .enabled(if: geteuid() == 0 && Peer.isUsable("setpriv", "nc"), "only root can become somebody else"))
    func strangers() throws {
        let served = try Served()
        // Only so that the stranger gets as far as the door.
        for path in [served.folder.path, served.folder.path + "/s"] { chmod(path, 0o755) }
        chmod(served.inspection.path, 0o777)
        let outcome = try ChildProcess.run([
            "setpriv", "--reuid=65534", "--clear-groups", "nc", "-N", "-U", served.inspection.path,
        ])
        #expect(outcome.output.contains("accepts viewers of user 0 only, not of 65534"))
        #expect(served.inspection.lastRefusal?.contains("65534") ?? false)
    }

    @Test("the socket is its user's alone, its file goes with the engine, and one of a dead program is removed")
    func files() throws {
        var served: Served? = try Served()
        let path = try #require(served?.inspection.path)
        var status = stat()
        try #require(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.endIndex))
        try #require(stat(folder, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o700)
        #expect(InspectionFolder.endpoints(in: folder) == [path])

        let stale = folder + "/1-1.sock"
        let dead = try InspectionFolderTests.abandonedSocket(stale)
        #expect(dead && access(stale, F_OK) == 0)
        #expect(InspectionFolder.endpoints(in: folder) == [path])
        #expect(access(stale, F_OK) != 0)

        let keep = served?.folder
        served = nil
        #expect(eventually { access(path, F_OK) != 0 })
        withExtendedLifetime(keep) {}
    }

    @Test("an engine that the environment serves is not served a second time by the program")
    func servedOnce() throws {
        let folder = try TemporaryFolder()
        let engine = SocketEngine()
        let asked = try SocketInspection.serve(
            engine, rights: .payload, folder: folder.path, program: nil, isAskedFor: true)
        #expect(try SocketInspection.serve(engine) === asked)
        #expect(try SocketInspection.serve(engine, rights: .payload) === asked)
        asked.stop()
    }

    @Test("a folder that others can reach is refused")
    func openFolder() throws {
        let folder = try TemporaryFolder()
        chmod(folder.path, 0o755)
        #expect(throws: SocketError.self) {
            try SocketInspection.serve(SocketEngine(), rights: .watch, folder: folder.path)
        }
    }
}

enum InspectionFolderTests {
    /// A socket file that nobody listens on.
    static func abandonedSocket(_ path: String) throws -> Bool {
        let kernel = LinuxKernel()
        guard case .bytes(let opened) = kernel.openStream(for: .unix(path: path)) else { return false }
        defer { close(Int32(opened)) }
        return kernel.bind(Int32(opened), to: .unix(path: path)) == 0
    }
}
