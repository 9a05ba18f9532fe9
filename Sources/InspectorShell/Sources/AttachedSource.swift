import Dispatch
import Glibc
import InspectorCore
import SocketKit
import SocketRecords

/// The reason why a program can't be inspected, in one sentence.
package struct AttachError: Error, Equatable {
    package var sentence: String
    /// Whether the program exists but did not answer.
    package var isSilence = false
    /// Whether no program of that name allows inspection.
    package var isMissing = false

    package init(sentence: String, isSilence: Bool = false, isMissing: Bool = false) {
        (self.sentence, self.isSilence, self.isMissing) = (sentence, isSilence, isMissing)
    }
}

/// A connection to one inspectable program. Its own thread reads what the program sends. All other calls return at
/// once.
package final class AttachedSource: SocketSource {
    package let hello: InspectionHello
    package let path: String
    private let descriptor: Int32
    private let bell: Bell
    private let state = Lock(State())
    /// The bytes received after the greeting.
    private let greeted: InspectionFrameDecoder

    private struct State {
        var mirror = InspectionMirror()
        var unsent: [UInt8] = []
        var watch = InspectionWatch()
        /// Whether the watch message has not been sent yet. Only the latest one counts, so only one is pending.
        var owesWatch = false
        /// The number of updates received when the watch was sent, or `nil` if it was not sent yet.
        var updatesBeforeWatch: UInt64?
        var heard = ContinuousClock.now
        var notices = NoticeBuffer()
        /// Records the traffic.
        var sink: Sink?
        var ending: ProgramInfo.State?
        var isClosing = false

        var hasUnsent: Bool { owesWatch || !unsent.isEmpty }
    }

    /// Receives the traffic, on the reading thread.
    package typealias Sink = @Sendable ([InspectionRecord]) -> Void

    private static let patience = Duration.seconds(2)
    /// The most bytes of commands queued for a program that doesn't read.
    private static let unsentLimit = 8 << 20
    /// The longest time spent handling input before a pause of the same length, so that no program takes more than half
    /// a core, or keeps the lock from its other users.
    private static let breath = Duration.milliseconds(20)

    /// Connects and exchanges greetings. Waits at most two seconds for the answer.
    /// - Throws: a sentence, ours or the program's, that says why it can't be inspected.
    package init(path: String) throws(AttachError) {
        self.path = path
        let link = try InspectionLink(path: path)
        var mine = InspectionHello()
        mine.process = Int(getpid())
        mine.program = "socktui"
        var decoder = InspectionFrameDecoder()
        let theirs = try link.greet(mine, &decoder, within: Self.patience)
        if let refusal = mine.refusal(of: theirs, who: "\(path)") { throw AttachError(sentence: refusal) }
        hello = theirs
        bell = try Bell()
        descriptor = link.release()
        greeted = decoder
    }

    deinit { Glibc.close(descriptor) }

    /// Starts reading, until the program ends or `close` is called.
    package func start() {
        DispatchQueue(label: "attached \(hello.process)").async { @Sendable [self] in run() }
    }

    /// Ends the connection.
    package func close() {
        state.withLock { $0.isClosing = true }
        bell.ring()
    }

    // MARK: SocketSource

    package func info(ordinal: Int) -> ProgramInfo {
        ProgramInfo(
            ordinal: ordinal, name: hello.program, process: hello.process, rights: hello.rights, state: doing)
    }

    /// Answers at once with the last known state. Anything else in the request arrives with later snapshots.
    package func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot?) -> Void) {
        subscribe(request.watch)
        then(state.withLock { $0.mirror.snapshot(engine: hello.engine) })
    }

    /// Starts forwarding all traffic to `sink`, or stops if it is `nil`. Without the payload right no traffic arrives,
    /// and a notice says so.
    package func record(_ sink: Sink?) {
        let watch = state.withLock { state -> InspectionWatch in
            state.sink = sink
            if sink != nil, hello.rights < .payload {
                state.notices.add(
                    "\(hello.program)[\(hello.process)] grants viewers only \(hello.rights.rawValue): "
                        + "its state is recorded, but not its bytes")
            }
            return state.watch
        }
        subscribe(watch)
    }

    /// Sets what the program reports from now on.
    private func subscribe(_ watch: InspectionWatch) {
        let isNew = state.withLock { state in
            var watch = watch
            watch.wantsPassing = state.sink != nil && hello.rights >= .payload
            guard state.watch != watch else { return false }
            state.watch = watch
            state.mirror.watches(watch)
            state.owesWatch = true
            state.updatesBeforeWatch = nil
            return true
        }
        if isNew { bell.ring() }
    }

    package func perform(_ command: SocketCommand) {
        let frame = InspectionFrame.command(command).bytes
        state.withLock { state in
            guard state.ending == nil, !state.isClosing else {
                state.notices.add("\(hello.program)[\(hello.process)] has ended; the command was not sent")
                return
            }
            guard frame.count <= InspectionFrame.limit else {
                state.notices.add("the command is too long: at most \(InspectionFrame.limit) bytes")
                return
            }
            guard state.unsent.count + frame.count <= Self.unsentLimit else {
                state.notices.add("\(hello.program)[\(hello.process)] is not reading; the command was not sent")
                return
            }
            state.unsent += frame
        }
        bell.ring()
    }

    package var isAwaited: Bool { state.withLock { $0.mirror.tick == nil && $0.ending == nil && !$0.isClosing } }

    /// Whether everything requested has been received, as far as it will be. An update may be in transit while the
    /// request is sent, so only the second one is sure to include the answer.
    package var hasAnswered: Bool {
        guard doing == .live else { return true }
        return state.withLock { state in
            state.updatesBeforeWatch.map { state.mirror.updates >= $0 + 2 } ?? false
        }
    }

    /// Whether more updates may arrive.
    package var isLive: Bool { state.withLock { $0.ending == nil && !$0.isClosing } }

    package func takeNotices() -> [String] { state.withLock { $0.notices.take() } }

    /// The state of the connection.
    private var doing: ProgramInfo.State {
        state.withLock { state in
            if let ending = state.ending { return ending }
            let interval = state.mirror.tick?.interval ?? .zero
            let silence = ContinuousClock.now - state.heard
            return silence > max(.seconds(1), interval * 3) ? .silent(silence) : .live
        }
    }

    // MARK: The thread

    private func run() {
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        var decoder = greeted
        var rested = ContinuousClock.now
        receive([], &decoder)
        while true {
            let (isOver, hasUnsent) = state.withLock { ($0.isClosing || $0.ending != nil, $0.hasUnsent) }
            if isOver { break }
            guard wait(until: rested, hasUnsent) else { continue }
            flush()
            let began = ContinuousClock.now
            receive(&buffer, &decoder)
            let took = .now - began
            if took > Self.breath { rested = .now + min(took, .seconds(1)) }
        }
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Waits for the program or the bell, or for the bell alone while the thread rests. Returns whether the rest is
    /// over.
    private func wait(until rested: ContinuousClock.Instant, _ hasUnsent: Bool) -> Bool {
        let left = (rested - .now).wholeNanoseconds / 1_000_000
        let events = Int16(POLLIN) | (hasUnsent ? Int16(POLLOUT) : 0)
        var polled = [
            pollfd(fd: bell.readEnd, events: Int16(POLLIN), revents: 0),
            pollfd(fd: left > 0 ? -1 : descriptor, events: events, revents: 0),
        ]
        poll(&polled, 2, left > 0 ? Int32(clamping: left) : -1)
        bell.silence()
        return left <= 0
    }

    private func flush() {
        state.withLock { state in
            while state.hasUnsent {
                if state.unsent.isEmpty {
                    state.unsent = InspectionFrame.watch(state.watch).bytes
                    state.owesWatch = false
                    state.updatesBeforeWatch = state.mirror.updates
                }
                let count = Glibc.send(
                    descriptor, state.unsent, state.unsent.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                guard count > 0 else { return }
                state.unsent.removeFirst(count)
            }
        }
    }

    private func receive(_ buffer: inout [UInt8], _ decoder: inout InspectionFrameDecoder) {
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return end(.ended("it has ended; this is its final state")) }
        receive(buffer[..<count], &decoder)
    }

    /// Reads without the lock, which is held only while a complete frame is handled.
    private func receive(_ bytes: ArraySlice<UInt8>, _ decoder: inout InspectionFrameDecoder) {
        decoder.append(bytes)
        do throws(WireError) {
            while let frame = try decoder.next() { try absorb(frame) }
        } catch {
            let problem = if case .malformed(let sentence) = error { sentence } else { "" }
            end(.failed("its updates cannot be read: \(problem)"))
        }
        state.withLock { $0.heard = .now }
    }

    private func end(_ ending: ProgramInfo.State) {
        state.withLock { state in
            if state.ending == nil { state.ending = ending }
            state.unsent = []
        }
    }

    private func absorb(_ frame: InspectionFrame) throws(WireError) {
        let now = SystemClock().now
        if case .passed(let records) = frame {
            state.withLock { $0.sink }?(records)
            return
        }
        try state.withLock { state throws(WireError) in
            switch frame {
            case .refusal(let sentence): if state.ending == nil { state.ending = .failed(sentence) }
            case .notice(let sentence): state.notices.add(sentence)
            case .hello, .sockets, .tick, .events, .traffic, .reset, .peers, .calls, .passed, .answer, .watch, .command,
                .request,
                .unknown:
                try state.mirror.absorb(frame, now: now)
            }
        }
    }
}

extension SnapshotRequest {
    /// The part of the request that must be sent to a program.
    fileprivate var watch: InspectionWatch {
        var watch = InspectionWatch()
        switch kernel {
        case .none: break
        case .only(let ids): watch.sockets = ids.sorted()
        case .all: watch.wantsAll = true
        }
        watch.traffic = traffic
        watch.wantsEvents = eventsFrom != nil
        return watch
    }
}
