import Glibc

/// A program that has the terminal for itself while this one waits for it.
enum ForegroundChild {
    /// Runs it until it ends; its exit status, or 128 and the signal that ended it; 127 when it cannot be started.
    ///
    /// Meanwhile ^C and ^\ are the child's alone, and ^Z stops both, so that the shell gets its terminal.
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
        guard let child = spawn(arguments, input, output) else { return 127 }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { return 127 }
        }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    private static func spawn(_ arguments: [String], _ input: Int32, _ output: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (from, to) in [(input, 0), (output, 1), (output, 2)] {
            posix_spawn_file_actions_adddup2(&actions, from, Int32(to))
        }
        // What this program ignores or blocks, its child would too.
        var signals = sigset_t()
        var none = sigset_t()
        sigemptyset(&none)
        sigemptyset(&signals)
        for number in [SIGINT, SIGQUIT, SIGTSTP, SIGPIPE] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var words = arguments.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var child: pid_t = 0
        return posix_spawn(&child, arguments[0], &actions, &attributes, &words, environ) == 0 ? child : nil
    }
}
