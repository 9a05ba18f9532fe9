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

    private static let longestComplaint = 4 << 10

    /// Starts the program that starts the agent.
    init(_ place: HostPlace, _ host: HostOrdinal, own: String) {
        (self.place, self.host) = (place, host)
        let ends = Self.pipes()
        guard ends.count == 3 else {
            problem = "pipe: \(POSIXErrno(errno).words)"
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
    var wantsToWrite: Bool { !unsent.isEmpty || next != nil }

    /// Reads what the agent has written. Returns what that says.
    mutating func receive(at time: MonotonicTime) -> [AgentReader.News] {
        guard let bytes = Self.read(output) else { return [] }
        if bytes.isEmpty {
            finish()
            return []
        }
        do throws(WireError) {
            let news = try reader.take(bytes, at: time)
            for case .bye(let sentence) in news { farewell = sentence }
            return news
        } catch {
            if case .malformed(let why) = error { end("its agent broke the protocol: \(why)") }
            return []
        }
    }

    mutating func receiveErrors() {
        guard let bytes = Self.read(errors) else { return }
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

    /// The agent's output has ended. Says why.
    private mutating func finish() {
        receiveErrors()
        let status = waited()
        // The host says these, so they are escaped where they are shown.
        let said = String(decoding: complaint, as: UTF8.self).split(whereSeparator: \.isNewline).last.map(String.init)
        end(farewell ?? HostEnding(status: status, hasBegun: reader.hasBegun, said: said, place: place).sentence)
    }

    /// Ends the connection.
    mutating func end(_ sentence: String) {
        problem = problem ?? sentence
        for descriptor in [input, output, errors] where descriptor >= 0 { close(descriptor) }
        (input, output, errors, unsent, next) = (-1, -1, -1, [], nil)
        if process > 0 { kill(-process, SIGTERM) }
        _ = waited(patience: 1)
    }

    /// Returns the exit status of the program, or `nil` if a signal ended it or it has not ended yet.
    private mutating func waited(patience: Int = 100) -> Int32? {
        guard process > 0 else { return nil }
        var status: Int32 = 0
        for turn in 0..<patience {
            if waitpid(process, &status, WNOHANG) == process {
                process = 0
                return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
            }
            if turn < patience - 1 { poll(nil, 0, 20) }
        }
        return nil
    }
}
