import CSockTUITerminal

/// What becomes of the terminal when this process is stopped, ended or crashes; the work is done in CSockTUITerminal, since
/// signal handlers must be C.
enum CrashGuard {
    /// Remembers the terminal's settings, before curses changes them.
    static func remember(_ tty: Int32) {
        cterminal_unblock_signals()
        _ = cterminal_remember(tty)
    }

    /// From now on a crash on any thread writes `restoreBytes` and the settings remembered to the terminal, and what
    /// is written to stderr waits until the screen is gone.
    static func arm(screen: Int32, restoreBytes: String) {
        let bytes = Array(restoreBytes.utf8CString)
        _ = cterminal_arm(screen, bytes, bytes.count - 1)
        _ = cterminal_hide_stderr()
    }

    /// What `draw` writes to `screen`, curses a piece for each move of its cursor, reaches the terminal by one write, or
    /// not at all where a crash has given the terminal back meanwhile.
    static func inOneWrite(to screen: Int32, _ draw: () -> Void) {
        _ = cterminal_begin_picture(screen)
        draw()
        cterminal_end_picture(screen)
    }

    /// Polite signals arrive as bytes in this pipe.
    static func listen(_ pipe: Int32) { cterminal_listen(pipe) }

    /// A byte of a polite signal was read.
    static func heard() { cterminal_heard() }

    /// The screen is gone for good: settings as they were, stderr back.
    static func disarm() {
        cterminal_disarm()
        cterminal_reset()
        cterminal_show_stderr()
    }

    /// Whether a signal that ends the program waits to be heard.
    static var isDying: Bool { cterminal_is_dying() != 0 }

    /// Stops the process as ^Z does; returns when it goes on.
    static func stop() { cterminal_stop() }

    /// Ends the process by a signal, so that its parent sees it.
    static func die(by signal: Int32) -> Never { cterminal_die(signal) }
}
