import Glibc

/// A program that a test runs to its end. It starts with no signal blocked, unlike the threads of a test, and ended by
/// SIGPIPE; its output goes to files, so a daemon that it leaves behind holds nothing up.
public struct ChildProcess {
    /// How a program ended, and what it wrote.
    public struct Outcome: Hashable, Sendable {
        /// The exit status; nil when a signal ended it.
        public var status: Int32?
        /// The signal that ended it; nil when it exited.
        public var signal: Int32?
        /// What it wrote to stdout, ill-formed bytes replaced.
        public var output: String
        /// What it wrote to stderr.
        public var errors: String
    }

    /// Why a program could not be run.
    public struct Failure: Error, CustomStringConvertible {
        /// One sentence.
        public let description: String
    }

    /// Runs a program found on PATH and waits until it ends; kills it after `limit`.
    /// - Parameter environment: variables to set beside those of this process; nil: to unset.
    /// - Throws: `Failure` when it cannot be started or does not end.
    public static func run(
        _ words: [String], environment: [String: String?] = [:], limit: Duration = .seconds(240)
    ) throws -> Outcome {
        let files = try (0..<2).map { _ in try scratchFile() }
        defer { files.forEach { close($0) } }
        let child = try spawn(words, environment, files)
        var status: Int32 = 0
        guard eventually(within: limit, { waitpid(child, &status, WNOHANG) == child }) else {
            kill(child, SIGKILL)
            waitpid(child, &status, 0)
            throw Failure(description: "\(words) did not end within \(limit)")
        }
        let number = status & 0x7F
        return Outcome(
            status: number == 0 ? (status >> 8) & 0xFF : nil, signal: number == 0 ? nil : number,
            output: text(of: files[0]), errors: text(of: files[1]))
    }

    /// Starts a program that reads from `input`, or from nothing, and writes its output and errors to `files`.
    static func spawn(
        _ words: [String], _ changes: [String: String?], input: Int32? = nil, _ files: [Int32]
    ) throws -> pid_t {
        _ = inheritsNothing
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, files[0], 1)
        posix_spawn_file_actions_adddup2(&actions, files[1], 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        // Whoever started the tests may ignore SIGPIPE, and what is ignored is inherited.
        var broken = none
        sigaddset(&broken, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &broken)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments = words.map { strdup($0) } + [nil]
        var variables = environment(changes).map { strdup($0) } + [nil]
        defer { (arguments + variables).forEach { free($0) } }
        var child: pid_t = 0
        let problem = posix_spawnp(&child, words[0], &actions, &attributes, &arguments, &variables)
        guard problem == 0 else { throw Failure(description: "\(words[0]): \(String(cString: strerror(problem)))") }
        return child
    }

    /// Closes to children what whoever started the tests left open to them, sockets among it.
    private static let inheritsNothing: Void = {
        for descriptor in 3..<Int32(min(65_536, sysconf(Int32(_SC_OPEN_MAX)))) where fcntl(descriptor, F_GETFD) == 0 {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }()

    private static func environment(_ changes: [String: String?]) -> [String] {
        var values: [String: String] = [:]
        var entry = environ
        while let line = entry.pointee {
            let halves = String(cString: line).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if halves.count == 2 { values[String(halves[0])] = String(halves[1]) }
            entry += 1
        }
        for (name, value) in changes { values[name] = value }
        return values.map { "\($0)=\($1)" }
    }

    static func scratchFile() throws -> Int32 {
        var name = Array("/tmp/socktui-test-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else { throw Failure(description: "mkstemp: \(String(cString: strerror(errno)))") }
        unlink(name)
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        return file
    }

    static func text(of file: Int32) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = pread(file, &buffer, buffer.count, off_t(bytes.count)), count > 0 {
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A program that does nothing but hold a descriptor, until it is killed.
package struct HoldingProcess {
    package let process: pid_t

    /// Starts it; the caller's descriptor stays open.
    package init(_ descriptor: Int32) throws {
        let sink = try ChildProcess.scratchFile()
        defer { close(sink) }
        process = try ChildProcess.spawn(["sleep", "1000"], [:], input: descriptor, [sink, sink])
    }

    /// Kills it by SIGKILL, and waits until it is gone.
    package func kill() {
        Glibc.kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }
}
