import Dispatch
import Glibc
import InspectorCore
import SocketKit

/// What a capture file tells, a recording of ours or any pcapng or pcap. It is read on a queue of its own, and shown as far
/// as it has been read.
final class OpenedSource: SocketSource {
    private struct State {
        var capture: OpenedCapture
        var size: Int64
        var ending: String?
        var isClosing = false
        /// Why it could not be read to its end, until that was told.
        var problem: String?
    }

    let path: String
    private let name: String
    private let descriptor: Int32
    private let state: Lock<State>

    private static let chunk = 1 << 20

    /// Opens it.
    /// - Throws: why it cannot be, in a sentence that names the file.
    init(path: String, keeping limits: TrafficLimits) throws(AttachError) {
        self.path = path
        name = path.split(separator: "/").last.map(String.init) ?? path
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw AttachError(sentence: SocketError.words(errno)) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            Glibc.close(descriptor)
            throw AttachError(sentence: "must be a file, a recording or a capture")
        }
        state = Lock(
            State(capture: OpenedCapture(keeping: limits.each, all: limits.all), size: Int64(status.st_size)))
    }

    deinit { Glibc.close(descriptor) }

    /// Begins to read.
    func start() {
        DispatchQueue(label: "open \(name)", qos: .userInitiated).async { @Sendable [self] in read() }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: Self.chunk)
        while !state.withLock({ $0.isClosing }) {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return end(count < 0 ? SocketError.words(errno) : nil) }
            do throws(CaptureError) {
                try state.withLock { state throws(CaptureError) in try state.capture.take(buffer[..<count]) }
            } catch {
                return end(error.sentence)
            }
        }
    }

    private func end(_ problem: String?) {
        state.withLock { state in
            state.capture.finish()
            state.problem = problem.map { "\(path): \($0)" }
            let words = [problem ?? "this is its end"] + state.capture.shortcomings
            state.ending = words.joined(separator: "; ")
        }
    }

    // MARK: A source

    func info(ordinal: Int) -> ProgramInfo {
        let ending = state.withLock { $0.ending }
        return ProgramInfo(
            ordinal: ordinal, name: name, process: 0, state: ending.map { .ended($0) } ?? .live)
    }

    func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot?) -> Void) {
        then(
            state.withLock { state in
                if let snapshot = state.capture.snapshot(request, named: name) { return snapshot }
                // A file without a packet has no time of its own.
                return state.ending == nil ? nil : EngineSnapshot(engine: name, time: .zero, wallNanoseconds: 0)
            })
    }

    func requestTraffic(of sockets: [SocketID], then: @escaping @Sendable ([SocketID: TrafficSnapshot]?) -> Void) {
        then(
            state.withLock { state in
                Dictionary(sockets.map { ($0, state.capture.traffic(of: $0)) }) { first, _ in first }
            })
    }

    var isAwaited: Bool { state.withLock { $0.ending == nil && !$0.isClosing } }
    var hasAnswered: Bool { state.withLock { $0.ending != nil } }

    func perform(_ command: SocketCommand) {}
    func takeNotices() -> [String] { state.withLock { $0.problem.take().map { [$0] } ?? [] } }
    func close() { state.withLock { $0.isClosing = true } }
}
