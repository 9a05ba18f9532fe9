import Glibc
import SocketRecords
import SocketTestSupport
import Testing

@testable import SocketKit

@Suite("Being inspected when calls fail", .timeLimit(.minutes(10)))
struct InspectionFaultTests {
    private let kernel = FaultyKernel()
    private let engine = SocketEngine()
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/s" }

    init() throws { folder = try TemporaryFolder() }

    private func serve(_ rights: InspectionRights = .watch) throws(SocketError) -> SocketInspection {
        try SocketInspection.serve(engine, rights: rights, folder: path, program: "chatd", kernel: kernel)
    }

    private func isAnswered(_ viewer: InspectionClient) -> Bool {
        eventually {
            _ = try? viewer.take()
            return viewer.others.contains { if case .hello = $0 { true } else { false } }
        }
    }

    @Test("a viewer is served when the program has no descriptor left")
    func spare() throws {
        let inspection = try serve()
        let first = try InspectionClient(inspection.path)
        #expect(isAnswered(first))
        kernel.fail(.accept, with: [EMFILE])
        kernel.fail(.openStream, always: EMFILE)
        let second = try InspectionClient(inspection.path)
        #expect(isAnswered(second))
    }

    @Test("a viewer that cannot be accepted does not keep the thread busy, and is served once it can be")
    func backOff() throws {
        let inspection = try serve()
        kernel.fail(.accept, always: EMFILE)
        kernel.fail(.openStream, always: EMFILE)
        let began = ContinuousClock.now
        let viewer = try InspectionClient(inspection.path)
        // The attempt with the spare descriptor, the one behind it, and one a second later.
        #expect(eventually { kernel.count(.accept) >= 4 })
        let seconds = Int((.now - began).inSeconds)
        #expect(kernel.count(.accept) <= 5 + 2 * seconds)
        kernel.fail(.accept, always: nil)
        #expect(isAnswered(viewer))
    }

    @Test(
        "whichever call fails for want of descriptors, there is a sentence and nothing is left, or viewers are served",
        arguments: [FaultyKernel.Call.openStream, .accept, .receive, .send], [EMFILE, ENOBUFS])
    func torture(_ call: FaultyKernel.Call, _ errno: Int32) throws {
        for count in 0..<4 {
            kernel.fail(call, after: count, with: errno)
            // It keeps what serves it until it is released.
            let engine = SocketEngine()
            do throws(SocketError) {
                let inspection = try SocketInspection.serve(
                    engine, rights: .watch, folder: path, program: "chatd", kernel: kernel)
                // A call on a viewer's own connection ends that; the next viewer is served.
                #expect(eventually { (try? InspectionClient(inspection.path)).map(isServed) ?? false })
                inspection.stop()
            } catch {
                #expect(!error.detail.isEmpty)
            }
            #expect(eventually { InspectionFolder.endpoints(in: path).isEmpty })
            #expect(DirectoryNames.of(path).isEmpty)
        }
        #expect(eventually { kernel.openDescriptors.isEmpty })
    }

    /// Whether it is answered, unless its connection ends.
    private func isServed(_ viewer: InspectionClient) -> Bool {
        var isOpen = true
        return eventually {
            isOpen = ((try? viewer.take()) ?? false)
            let isGreeted = viewer.others.contains { if case .hello = $0 { true } else { false } }
            return isGreeted || !isOpen
        } && !viewer.others.isEmpty
    }

    @Test("others who look for programs leave one alone that is about to listen")
    func beginning() throws {
        let path = path
        kernel.beforeListening { _ = InspectionFolder.endpoints(in: path) }
        let inspection = try serve()
        #expect(InspectionFolder.endpoints(in: path) == [inspection.path])
        #expect(DirectoryNames.of(path) == [String(inspection.path.dropFirst(path.count + 1))])
        #expect(isAnswered(try InspectionClient(inspection.path)))
    }

    @Test("what viewers queue has a limit, which is said")
    func queues() throws {
        let recorder = Recorder()
        let reception = try Reception(engine: engine, accepting: Recorder(onAccept: { $0.delegate = recorder }))
        let client = try reception.connect()
        #expect(eventually { reception.accepting.sockets.count == 1 })
        let inspection = try serve(.control)
        let viewer = try InspectionClient(inspection.path)
        #expect(viewer.sees { $0.sockets.count == 3 })
        let read = ReadRequest(.length(1), timeout: nil, tag: 0)
        let id = try #require(client.session)
        // In one piece: what the kernel has no room for is not sent again.
        viewer.send(Array(repeatElement(InspectionFrame.command(.read(id, read)).bytes, count: 1_100).joined()))
        #expect(
            eventually {
                _ = try? viewer.take()
                return viewer.others.contains {
                    if case .notice(let sentence) = $0 { sentence.contains("too many for a viewer") } else { false }
                }
            })
        let queued = engine.snapshot().sockets.first { $0.id == id }?.reading.pendingCount ?? 0
        #expect(queued <= 1_025)
        withExtendedLifetime(reception) {}
    }
}

/// The names in a folder.
enum DirectoryNames {
    static func of(_ folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
