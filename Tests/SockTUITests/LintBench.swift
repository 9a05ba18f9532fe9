import Glibc
import InspectorCore
import InspectorScreen
import SocketKit
import SocketTestSupport

@testable import HostSockets
@testable import SockTUI

/// A real connection, time in the test's hand, and an inspector that warns of everything.
final class LintBench {
    let time = ManualTime()
    let kernel = FaultyKernel()
    let engine: SocketEngine
    let pair: ConnectedPair
    private var model: Model
    /// The session that is looked at.
    var session: SocketID?
    /// What has to live as long as this.
    var kept: [Any] = []
    /// Whether the kernel is asked what the other end does.
    var knowsPeers = true

    init(verdict: TimeoutVerdict = .later, configuration: SocketConfiguration = SocketConfiguration()) throws {
        engine = SocketEngine.with(kernel: kernel, time: time)
        pair = try ConnectedPair(
            engine: engine, recorder: Recorder(verdict: { _ in verdict }), configuration: configuration)
        session = pair.socket.session
        var lints = LintSettings()
        _ = lints.warn("all")
        model = Model(options: .init(ascii: true, version: "test", lints: lints))
    }

    var socket: AsyncSocket { pair.socket }

    /// What the inspector finds now under this name; nil: nothing.
    func finds(_ lint: String) -> String? {
        finds(lint, in: engine)
    }

    func finds(_ lint: String, in engine: SocketEngine) -> String? {
        var request = model.snapshotRequest
        request.kernel = .all
        let snapshot = engine.snapshot(request)
        _ = model.update(.peers(knowsPeers ? ends(snapshot) : [:]))
        _ = model.update(.answer(Answer(snapshot)))
        let found = model.shared.findings.ofEngine + (session.map { model.shared.findings[$0] } ?? [])
        return found.first { $0.lint == lint }?.sentence
    }

    /// Whether the other end holds bytes that it has not read, as the inspector last saw it.
    var hasUnreadThere: Bool {
        _ = finds("")
        return session.flatMap { model.shared.peers[$0]?.unread }.map { $0 > 0 } ?? false
    }

    private func ends(_ snapshot: EngineSnapshot) -> [SocketID: PeerEnd] {
        guard let query = SocketQuery(.live) else { return [:] }
        let program = PeerEnd.Program(process: Int(getpid()), name: "peer", descriptor: pair.peer)
        var ends: [SocketID: PeerEnd] = [:]
        for socket in snapshot.sockets where socket.phase == .connected {
            guard let local = socket.local, let peer = socket.peer else { continue }
            ends[socket.id] = query.other(local: local, peer: peer).map { PeerEnd($0, program) }
        }
        return ends
    }

    /// The peer writes until its send buffer is full.
    func fillFromPeer() {
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        while send(pair.peer, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) > 0 {}
    }

    func pass(_ seconds: Double) { time.pass(.milliseconds(Int(seconds * 1000))) }

    /// Writes much more than kernel and peer take, and waits until nothing more goes out.
    func fillUp(timeout: Duration? = nil) {
        socket.write([UInt8](repeating: 7, count: 8 << 20), timeout: timeout, tag: 1)
        _ = eventually { pair.picture.map { !$0.flags.contains(.socketCanAcceptBytes) } ?? false }
        // The kernel may still move bytes on to the peer and make room; it is full when that has ended.
        var before = UInt64.max
        _ = eventually {
            let sent = pair.picture?.sent ?? 0
            defer { before = sent }
            return sent == before
        }
    }

    /// 3,000 writes of one byte each, until all are with the kernel.
    func writeSingleBytes() {
        for _ in 0..<3_000 { socket.write([1]) }
        _ = eventually { pair.picture?.writing.completed == 3_000 }
    }

    /// The peer reads until nothing is queued here any more.
    func drain() {
        _ = eventually {
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            while recv(pair.peer, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 {}
            return (pair.picture?.writing.pendingBytes ?? 0) == 0
        }
    }
}
