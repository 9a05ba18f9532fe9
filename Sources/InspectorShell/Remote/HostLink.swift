import Glibc
import InspectorCore
import SocketCore
import SocketRecords

/// The connection to one host's agent: a program that was started here, such as ssh, with its input and output.
struct HostLink {
    let place: HostPlace
    let host: HostOrdinal
    /// The descriptors for the agent's input, output and errors, or -1 once closed.
    private(set) var input: Int32 = -1
    private(set) var output: Int32 = -1
    private(set) var errors: Int32 = -1
    private var process: pid_t = 0
    private var reader = AgentReader()
    private var complaint: [UInt8] = []
    private var unsent: [UInt8] = []
    /// A question that waits until the one before it is written.
    private var next: AgentAsk?
    /// When something was last asked, and the last look that was taken.
    private(set) var asked: MonotonicTime?
    private(set) var taken: UInt64 = 0
    /// Why it is not there any more, as a sentence, or `nil` while it is.
    private(set) var problem: String?
    private var farewell: String?
    /// When the agent's output ended, while the status of the program is waited for.
    private var ended: MonotonicTime?
    /// When the program is started again, if it is.
    private(set) var retry: MonotonicTime?
    /// The starts since something was last taken.
    private var failures = 0
    /// How often a connection was lost that had begun.
    private(set) var losses = 0
    /// The number of bytes that came, and the version of the agent.
    private(set) var bytes: UInt64 = 0
    var version: String?
    private let own: String

    private static let longestComplaint = 4 << 10
    /// How long the status of a program is waited for whose output has ended.
    private static let patience = Duration.seconds(2)
    private static let longestPause = 30

    /// Starts the program that starts the agent. `own` is the path of this program.
    init(_ place: HostPlace, _ host: HostOrdinal, own: String) {
        (self.place, self.host, self.own) = (place, host, own)
        start()
    }

    /// Starts the program again.
    mutating func restart() {
        // It had a second or more to end.
        if process > 0 { kill(-process, SIGKILL) }
        _ = reap()
        guard process == 0 else { return }
        (problem, farewell, ended, retry, asked, taken) = (nil, nil, nil, nil, nil, 0)
        (reader, complaint) = (AgentReader(), [])
        start()
    }

    private mutating func start() {
        let ends = Self.pipes()
        guard ends.count == 3 else {
            end("pipe: \(POSIXErrno(errno).words)")
            return
        }
        let theirs = [ends[0][0], ends[1][1], ends[2][1]]
        (input, output, errors) = (ends[0][1], ends[1][0], ends[2][0])
        for descriptor in [input, output, errors] { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
        start(place.command(own: own), theirs)
        for descriptor in theirs { close(descriptor) }
    }

    /// Returns three pipes, or nothing if there are not so many descriptors.
    private static func pipes() -> [[Int32]] {
        var ends: [[Int32]] = []
        for _ in 0..<3 {
            var pair: [Int32] = [-1, -1]
            guard pipe(&pair) == 0 else {
                for end in ends.joined() { close(end) }
                return []
            }
            for end in pair { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            ends.append(pair)
        }
        return ends
    }

    private mutating func start(_ words: [String], _ streams: [Int32]) {
        do throws(CommandPath.Problem) {
            let spawn = Spawn(
                path: try CommandPath.find(words[0]), arguments: words, streams: streams, hasOwnSession: true)
            switch spawn.start() {
            case .success(let child): process = child
            case .failure(let error): end("\(words[0]): \(error.words)")
            }
        } catch {
            end(error.sentence)
        }
    }

    var isOpen: Bool { problem == nil }
    /// Whether it must be looked at again soon, although nothing may come from it.
    var isEnding: Bool { ended != nil || problem != nil && process > 0 }
    var wantsToWrite: Bool { !unsent.isEmpty || next != nil }

    /// Reads what the agent has written. Returns what that says.
    mutating func receive(at time: MonotonicTime) -> [AgentReader.News] {
        guard output >= 0, let bytes = Self.read(output) else { return [] }
        if bytes.isEmpty {
            close(output)
            (output, ended) = (-1, time)
            return []
        }
        self.bytes += UInt64(bytes.count)
        do throws(WireError) {
            let news = try reader.take(bytes, at: time)
            for case .bye(let sentence) in news { farewell = sentence }
            for case .update in news { failures = 0 }
            return news
        } catch {
            if case .malformed(let why) = error { end("its agent broke the protocol: \(why)") }
            return []
        }
    }

    mutating func receiveErrors() {
        guard errors >= 0, let bytes = Self.read(errors) else { return }
        if bytes.isEmpty {
            close(errors)
            errors = -1
        }
        complaint = (complaint + bytes).suffix(Self.longestComplaint)
    }

    /// Returns what is there, empty at the end, or `nil` if there is nothing yet.
    private static func read(_ descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 256 << 10)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        return Array(bytes.prefix(max(0, count)))
    }

    /// Asks. What was asked before and is not written yet is replaced.
    mutating func ask(_ ask: AgentAsk, at time: MonotonicTime) {
        guard isOpen else { return }
        (next, asked, taken) = (ask, time, ask.taken)
        flush()
    }

    /// Writes what the agent has room for.
    mutating func flush() {
        if unsent.isEmpty, let ask = next { (unsent, next) = (AgentFrame.ask(ask).bytes, nil) }
        let count = unsent.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
        if count > 0 { unsent.removeFirst(count) }
        guard count < 0, errno != EAGAIN, errno != EINTR, input >= 0 else { return }
        // Nobody reads there.
        close(input)
        (input, unsent, next) = (-1, [], nil)
    }

    // MARK: Ends

    /// The last line of the program's errors. The host says it, so it is escaped where it is shown.
    var said: String? {
        String(decoding: complaint, as: UTF8.self).split(whereSeparator: \.isNewline).last.map(String.init)
    }

    /// Goes on ending, without waiting: the other hosts have things to say.
    mutating func settle(at time: MonotonicTime) {
        guard isOpen else { return _ = reap() }
        // Its status is needed once its output has ended.
        guard let ended else { return }
        let status = reap()
        guard status != nil || time - ended > Self.patience else { return }
        receiveErrors()
        let ending = HostEnding(status: status ?? nil, hasBegun: reader.hasBegun, said: said, place: place)
        end(farewell ?? ending.sentence)
    }

    /// Starts again after a pause, which doubles with each failure.
    mutating func retryLater(at time: MonotonicTime) {
        guard !isOpen, retry == nil else { return }
        if reader.hasBegun { losses += 1 }
        retry = time + .seconds(min(Self.longestPause, 1 << min(failures, 8)))
        failures += 1
    }

    /// Ends the connection.
    mutating func end(_ sentence: String) {
        (problem, ended) = (problem ?? sentence, nil)
        for descriptor in [input, output, errors] where descriptor >= 0 { close(descriptor) }
        (input, output, errors, unsent, next) = (-1, -1, -1, [], nil)
        if process > 0 { kill(-process, SIGTERM) }
        _ = reap()
    }

    /// Returns the exit status of the program, which is `nil` if a signal ended it, or nothing if it has not ended yet.
    private mutating func reap() -> Int32?? {
        guard process > 0 else { return .some(nil) }
        var status: Int32 = 0
        guard waitpid(process, &status, WNOHANG) == process else { return .none }
        process = 0
        return .some(status & 0x7F == 0 ? status >> 8 & 0xFF : nil)
    }
}
