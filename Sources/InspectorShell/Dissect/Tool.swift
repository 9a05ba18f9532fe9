import Glibc
import SocketKit

/// A helper program that is read and written through pipes. The creator must call `wait` once.
package final class Tool: Sendable {
    private struct Ends {
        var input: Int32
        var hasEnded = false
    }

    private let process: pid_t
    private let output: Int32
    private let errors: Int32
    private let ends: Lock<Ends>

    /// Returns the path of a program on PATH or in the usual folders, or `nil` if there is none.
    package static func path(of name: String) -> String? {
        let folders = (EnvironmentVariables.value(of: "PATH") ?? "") + ":/usr/local/bin:/usr/bin:/bin"
        return folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first {
            $0.withNative { access($0, X_OK) == 0 }
        }
    }

    /// Held while pipes are created and handed over, so that no program started meanwhile inherits them.
    private static let starting = Lock(())

    /// Starts the program. Returns `nil` with errno set if that fails.
    package init?(_ words: [String]) {
        guard let started = Self.starting.withLock({ _ in Self.start(words) }) else { return nil }
        (process, output, errors) = (started.process, started.output, started.errors)
        ends = Lock(Ends(input: started.input))
    }

    private struct Started {
        var process: pid_t
        var input: Int32
        var output: Int32
        var errors: Int32
    }

    private static func start(_ words: [String]) -> Started? {
        var pipes: [[Int32]] = []
        for _ in 0..<3 {
            var pair: [Int32] = [-1, -1]
            guard pipe(&pair) == 0 else {
                pipes.joined().forEach { close($0) }
                return nil
            }
            for end in pair { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            pipes.append(pair)
        }
        // Unread output on standard error must not block the program.
        for end in pipes[2] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        // ^C at the terminal must not reach it.
        let result = Spawn(
            path: words[0], arguments: words, streams: [pipes[0][0], pipes[1][1], pipes[2][1]], hasOwnGroup: true
        ).start()
        for end in [pipes[0][0], pipes[1][1], pipes[2][1]] { close(end) }
        switch result {
        case .success(let child):
            return Started(process: child, input: pipes[0][1], output: pipes[1][0], errors: pipes[2][0])
        case .failure(let problem):
            for end in [pipes[0][1], pipes[1][0], pipes[2][0]] { close(end) }
            errno = problem.number
            return nil
        }
    }

    deinit {
        endInput()
        close(output)
        close(errors)
    }

    /// Writes to the program's standard input, as fast as it reads. Does nothing once it has exited.
    package func write(_ bytes: [UInt8]) {
        var start = 0
        while start < bytes.count {
            let descriptor = ends.withLock { $0.input }
            guard descriptor >= 0 else { return }
            let count = bytes[start...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            start += count
        }
    }

    /// Closes the program's standard input. Must not be called while another thread writes.
    package func endInput() {
        let descriptor = ends.withLock { ends in
            defer { ends.input = -1 }
            return ends.input
        }
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns the next bytes of the program's standard output, or `nil` at its end.
    package func read() -> ArraySlice<UInt8>? {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(output, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            return count > 0 ? buffer[..<count] : nil
        }
    }

    /// Kills the program with SIGKILL.
    package func kill() { ends.withLock { if !$0.hasEnded { _ = Glibc.kill(process, SIGKILL) } } }

    /// Waits until the program ends. Returns its exit status, or 128 plus the signal that ended it.
    package func wait() -> Int32 {
        var information = siginfo_t()
        while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        // From here on, its process number may belong to another process.
        return ends.withLock { ends in
            ends.hasEnded = true
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
        }
    }

    /// The last line that the program wrote to standard error, or `nil` if there is none.
    package var complaint: String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = Glibc.read(errors, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix("tshark: ") }.map(String.init) ?? lines.last.map(String.init)
    }
}
