import Dispatch
import Glibc
import InspectorCore
import SocketKit

/// Why a program cannot be looked at: one sentence.
struct AttachError: Error, Equatable {
    var sentence: String
}

/// A connection to one program that lets itself be inspected. A thread of its own reads what it tells; all other calls
/// return at once.
final class AttachedProgram: Sendable {
    let hello: InspectionHello
    let path: String
    private let descriptor: Int32
    private let bell: Bell
    private let state = Lock(State())

    private struct State {
        var mirror = InspectionMirror()
        var decoder = InspectionFrameDecoder()
        var unsent: [UInt8] = []
        var watch = InspectionWatch()
        var heard = ContinuousClock.now
        var notices: [String] = []
        var ending: String?
        var isClosing = false
    }

    private static let patience = Duration.seconds(2)

    /// Connects and greets. Waits for the answer, two seconds at most.
    /// - Throws: why it is not looked at, in a sentence of ours or of the program's.
    init(path: String) throws(AttachError) {
        self.path = path
        let link = try InspectionLink(path: path)
        var mine = InspectionHello()
        mine.process = Int(getpid())
        mine.program = "socktui"
        var decoder = InspectionFrameDecoder()
        let theirs = try link.greet(mine, &decoder, within: Self.patience)
        if let refusal = mine.refusal(of: theirs, who: "\(path)") { throw AttachError(sentence: refusal) }
        hello = theirs
        descriptor = link.release()
        bell = Bell()
        state.withLock { $0.decoder = decoder }
    }

    deinit { Glibc.close(descriptor) }

    /// Begins to read, until the program ends or `close` is called.
    func start() {
        DispatchQueue(label: "attached \(hello.process)").async { @Sendable [self] in run() }
    }

    /// Ends it.
    func close() {
        state.withLock { $0.isClosing = true }
        bell.ring()
    }

    // MARK: For the viewer

    /// Says what shall be told from now on.
    func watches(_ watch: InspectionWatch) {
        let isNew = state.withLock { state in
            guard state.watch != watch else { return false }
            state.watch = watch
            state.mirror.watches(watch)
            state.unsent += InspectionFrame.watch(watch).bytes
            return true
        }
        if isNew { bell.ring() }
    }

    /// Passes on what a person asked for, where the program gives the right to.
    func send(_ command: SocketCommand) {
        let frame = InspectionFrame.command(command).bytes
        state.withLock { state in
            guard hello.rights >= .control else {
                let may = "\(hello.program)[\(hello.process)] gives the right to \(hello.rights.rawValue) only"
                state.notices.append("\(may); with SOCKETKIT_INSPECT=control it would do that")
                return
            }
            guard frame.count <= InspectionFrame.limit else {
                state.notices.append("too much for one command: at most \(InspectionFrame.limit) bytes")
                return
            }
            state.unsent += frame
        }
        bell.ring()
    }

    /// The picture as it was told last, with the events since the last call; nil before the first one.
    func snapshot() -> EngineSnapshot? {
        state.withLock { $0.mirror.snapshot(engine: hello.engine) }
    }

    /// Whether anything was told yet.
    var hasPicture: Bool { state.withLock { $0.mirror.tick != nil } }

    /// Whether more may be told.
    var isLive: Bool { state.withLock { $0.ending == nil && !$0.isClosing } }

    func takeNotices() -> [String] {
        state.withLock { state in
            defer { state.notices = [] }
            return state.notices
        }
    }

    /// How it is doing.
    var doing: ProgramInfo.State {
        state.withLock { state in
            if let ending = state.ending { return .ended(ending) }
            let interval = state.mirror.tick?.interval ?? .zero
            let silence = ContinuousClock.now - state.heard
            return silence > max(.seconds(1), interval * 3) ? .silent(silence) : .live
        }
    }

    // MARK: The thread

    private func run() {
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let (isClosing, isEnded, hasUnsent) = state.withLock {
                ($0.isClosing, $0.ending != nil, !$0.unsent.isEmpty)
            }
            if isClosing || isEnded { break }
            var polled = [
                pollfd(fd: descriptor, events: Int16(POLLIN) | (hasUnsent ? Int16(POLLOUT) : 0), revents: 0),
                pollfd(fd: bell.readEnd, events: Int16(POLLIN), revents: 0),
            ]
            poll(&polled, 2, -1)
            bell.silence()
            flush()
            receive(&buffer)
        }
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private func flush() {
        state.withLock { state in
            while !state.unsent.isEmpty {
                let count = Glibc.send(
                    descriptor, state.unsent, state.unsent.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                guard count > 0 else { return }
                state.unsent.removeFirst(count)
            }
        }
    }

    private func receive(_ buffer: inout [UInt8]) {
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        state.withLock { state in
            guard count > 0 else {
                state.ending = "it has ended"
                return
            }
            state.heard = .now
            state.decoder.append(buffer[..<count])
            do throws(WireError) {
                while let frame = try state.decoder.next() { Self.take(frame, &state) }
            } catch {
                let problem = if case .malformed(let sentence) = error { sentence } else { "" }
                state.ending = "what it tells cannot be read: \(problem)"
            }
        }
    }

    private static func take(_ frame: InspectionFrame, _ state: inout State) {
        switch frame {
        case .refusal(let sentence): state.ending = sentence
        case .notice(let sentence): state.notices.append(sentence)
        case .hello, .sockets, .tick, .events, .traffic, .reset, .watch, .command, .unknown: state.mirror.take(frame)
        }
    }
}
