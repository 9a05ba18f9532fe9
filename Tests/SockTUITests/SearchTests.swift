import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// An engine that only knows what passed, and answers at once or when it is told to.
private final class RememberingEngine: OpeningSource {
    private struct State {
        var traffic: [SocketID: TrafficSnapshot] = [:]
        var asked: [[SocketID]] = []
        var isSlow = false
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Lock(State())

    init(_ traffic: [SocketID: TrafficSnapshot], isSlow: Bool = false) {
        state.withLock { ($0.traffic, $0.isSlow) = (traffic, isSlow) }
    }

    var asked: [[SocketID]] { state.withLock { $0.asked } }

    func requestTraffic(of sockets: [SocketID], then: @escaping @Sendable ([SocketID: TrafficSnapshot]?) -> Void) {
        let answer = state.withLock { state -> (@Sendable () -> Void)? in
            state.asked.append(sockets)
            let found = state.traffic.filter { sockets.contains($0.key) }
            guard state.isSlow else { return { then(found) } }
            state.waiting.append { then(found) }
            return nil
        }
        answer?()
    }

    /// Gives the answers that wait, and those to come at once.
    func answer() {
        let waiting = state.withLock { state in
            state.isSlow = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for then in waiting { then() }
    }

    private static let refused = SocketError(.other, operation: "connect", detail: "it only remembers")

    func info(ordinal: Int) -> ProgramInfo { ProgramInfo(ordinal: ordinal, name: "past", process: 1, isOurs: true) }
    var isAwaited: Bool { false }
    var hasAnswered: Bool { true }
    func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot?) -> Void) { then(nil) }
    func perform(_ command: SocketCommand) {}
    func takeNotices() -> [String] { [] }
    func close() {}
    func write(_ request: WriteRequest, to id: SocketID) async throws(SocketError) {}
    func send(_ message: WebSocketMessage, to id: SocketID) async throws(SocketError) {}
    func stream(to id: SocketID) async throws(SocketError) -> WebSocketStream { throw Self.refused }
    func setReplies(_ id: SocketID, _ rules: [ReplyRule], then: @escaping @Sendable (SocketError?) -> Void) {}
    func connect(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {}
    func listen(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {}
    func startTLS(_ id: SocketID, _ settings: TLSSettings, then: @escaping @Sendable (SocketError?) -> Void) {}
    func relay(_ request: RelayRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {}
    func startDemo(then: @escaping @Sendable (SocketError?) -> Void) {}
}

/// What passed on a connection: each text with its direction.
private func traffic(
    _ items: [(TrafficItem.Direction, String)], missing: Int = 0, dropped: UInt64 = 0
) -> TrafficSnapshot {
    let items = items.enumerated().map { index, item in
        TrafficItem(
            sequence: UInt64(index), operation: OperationID(UInt64(index + 1)), time: .zero, direction: item.0, tag: 0,
            kind: item.0 == .sent ? .write : .read(.available(limit: nil)),
            done: item.1.utf8.count + (index == 0 ? missing : 0), total: nil, state: .complete(after: .zero),
            bytes: Array(item.1.utf8))
    }
    return TrafficSnapshot(items: items, dropped: dropped)
}

@Suite("Searching payloads", .timeLimit(.minutes(10)))
struct PayloadFinderTests {
    private func request(_ number: Int, _ text: String, in ids: [SocketID]) throws -> FindRequest {
        FindRequest(number: number, search: try PayloadSearch.parse(text).get(), sockets: ids)
    }

    /// What was reported until the search of that number was over.
    private func reports(_ inbox: Inbox, until number: Int) -> [FindProgress] {
        let found = Lock<[FindProgress]>([])
        #expect(
            eventually {
                for case .found(let progress) in inbox.take() { found.withLock { $0.append(progress) } }
                return found.withLock { $0.contains { $0.number == number && $0.isOver } }
            })
        return found.withLock { $0 }
    }

    @Test("every connection is searched, a few at a time, and what is not known is counted")
    func all() throws {
        let ids = (UInt64(1)...40).map { SocketID($0) }
        let known = Dictionary(
            uniqueKeysWithValues: ids.dropLast().map { id in
                (id, traffic([(.received, "x"), (.sent, id.number % 10 == 0 ? "a Needle, a needle" : "hay")]))
            })
        let engine = RememberingEngine(known)
        let inbox = try Inbox()
        let finder = PayloadFinder(sources: SourceList(own: engine), inbox: inbox)
        finder.start(try request(1, "needle", in: ids))
        let reports = reports(inbox, until: 1)
        let last = try #require(reports.last)
        #expect(last.searched == 39 && last.unknown == 1 && last.count == 6)
        let matches = reports.flatMap(\.matches)
        #expect(matches.map(\.socket.number) == [10, 10, 20, 20, 30, 30], "in order, each told once")
        #expect(matches.map(\.offset) == [2, 12, 2, 12, 2, 12] && matches.allSatisfy { $0.item == 1 })
        #expect(engine.asked.allSatisfy { $0.count <= 16 } && engine.asked.joined().elementsEqual(ids))
    }

    @Test("another search takes the place of the one before, and one that was stopped says nothing more")
    func replaced() throws {
        let engine = RememberingEngine([SocketID(1): traffic([(.sent, "one two")])], isSlow: true)
        let inbox = try Inbox()
        let finder = PayloadFinder(sources: SourceList(own: engine), inbox: inbox)
        finder.start(try request(1, "one", in: [SocketID(1)]))
        finder.stop()
        finder.start(try request(2, "one", in: [SocketID(1)]))
        finder.start(try request(3, "two", in: [SocketID(1)]))
        engine.answer()
        let reports = reports(inbox, until: 3)
        #expect(reports.map(\.number) == [3] && reports.first?.matches.map(\.offset) == [4])
    }

    @Test("a search of nothing is over at once")
    func nothing() throws {
        let inbox = try Inbox()
        let finder = PayloadFinder(sources: SourceList(own: RememberingEngine([:])), inbox: inbox)
        finder.start(try request(1, "x", in: []))
        #expect(reports(inbox, until: 1).map(\.count) == [0])
    }
}

@Suite("Saving the traffic of several connections")
struct SavedTrafficTests {
    private func sentence(_ result: Result<String, MessageText.Unsendable>) -> String {
        switch result {
        case .success(let sentence): sentence
        case .failure(let problem): problem.sentence
        }
    }

    @Test("each direction of each connection is a file of its own, its bytes as they passed")
    func files() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/out"
        let ids = (UInt64(1)...3).map { SocketID($0) }
        let kept = [
            ids[0]: traffic([(.received, "ab"), (.sent, "12"), (.received, "cd"), (.sent, "34")]),
            ids[1]: traffic([(.received, "tail")], missing: 2_048, dropped: 2),
        ]
        let result = SavedTraffic.save(kept, of: ids, to: path)
        #expect(
            sentence(result) == "saved 12 B to 3 files in \(path); 1 connection of other programs not saved; "
                + "2.0K more were not kept; 2 older items had been dropped")
        func saved(_ id: SocketID, _ direction: TrafficItem.Direction) -> String? {
            TextFile.read("\(path)/socktui-\(id.label)-\(direction.rawValue).bin")
        }
        #expect(saved(ids[0], .received) == "abcd" && saved(ids[0], .sent) == "1234")
        #expect(saved(ids[1], .received) == "tail" && saved(ids[1], .sent) == nil)
    }

    @Test("a file that is there stays, and what was saved before it is said")
    func present() throws {
        let folder = try TemporaryFolder()
        let ids = [SocketID(1), SocketID(2)]
        let kept = [ids[0]: traffic([(.sent, "new")]), ids[1]: traffic([(.sent, "new")])]
        let path = "\(folder.path)/socktui-\(ids[1].label)-sent.bin"
        TextFile.replace(path, with: "old")
        let result = SavedTraffic.save(kept, of: ids, to: folder.path)
        #expect(sentence(result).hasPrefix("\(path): already exists"))
        #expect(sentence(result).hasSuffix("; 1 file saved before that"))
        #expect(TextFile.read(path) == "old")
    }

    @Test("a folder that cannot be made is named")
    func noFolder() throws {
        let folder = try TemporaryFolder()
        TextFile.replace(folder.path + "/file", with: "")
        let result = SavedTraffic.save([:], of: [], to: folder.path + "/file/sub")
        #expect(sentence(result) == "\(folder.path)/file/sub: Not a directory")
    }
}
