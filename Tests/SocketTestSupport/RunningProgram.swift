import Glibc

/// A program that runs beside a test until it is stopped, or until nobody holds this.
package final class RunningProgram {
    package let process: pid_t
    private let output: Int32
    private let errors: Int32
    private var isStopped = false

    /// Starts a program found on PATH, with no input.
    package init(_ words: [String]) throws {
        (output, errors) = try (ChildProcess.scratchFile(), ChildProcess.scratchFile())
        process = try ChildProcess.spawn(words, [:], [output, errors])
    }

    deinit {
        stop()
        close(output)
        close(errors)
    }

    /// What it has written so far, its errors last.
    package var text: String { ChildProcess.text(of: output) + ChildProcess.text(of: errors) }

    /// Kills it by SIGKILL, and waits until it is gone.
    package func stop() {
        guard !isStopped else { return }
        isStopped = true
        kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }
}
