import Glibc
import InspectorShell

/// A program that has the terminal to itself while this one waits for it.
enum ForegroundChild {
    /// Runs a program until it ends. Returns its exit status, 128 plus the signal that ended it, or 127 if it can't be
    /// started.
    ///
    /// Meanwhile only the child receives ^C and ^\, and ^Z stops both, so that the shell gets its terminal.
    static func run(_ arguments: [String], input: Int32, output: Int32) -> Int32 {
        let former = [(SIGINT, SIG_IGN), (SIGQUIT, SIG_IGN), (SIGTSTP, SIG_DFL)].map { number, handler in
            var wanted = sigaction()
            var before = sigaction()
            wanted.__sigaction_handler.sa_handler = handler
            sigaction(number, &wanted, &before)
            return (number, before)
        }
        defer {
            for (number, before) in former {
                var before = before
                sigaction(number, &before, nil)
            }
        }
        let spawn = Spawn(path: arguments[0], arguments: arguments, streams: [input, output, output])
        guard case .success(let child) = spawn.start() else { return 127 }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { return 127 }
        }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}
