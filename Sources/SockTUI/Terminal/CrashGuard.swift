import CSockTUITerminal

/// Protects the terminal when this process is stopped, ends or crashes. CSockTUITerminal does the work, because signal
/// handlers must be C.
enum CrashGuard {
    /// Saves the terminal's settings before curses changes them.
    static func remember(_ tty: Int32) {
        cterminal_unblock_signals()
        _ = cterminal_remember(tty)
    }

    /// From now on, a crash on any thread writes `restoreBytes` and the saved settings to the terminal. Output to
    /// stderr is held until the screen is gone.
    static func arm(screen: Int32, restoreBytes: String) {
        let bytes = Array(restoreBytes.utf8CString)
        _ = cterminal_arm(screen, bytes, bytes.count - 1)
        _ = cterminal_hide_stderr()
    }

    /// Sends what `draw` writes to `screen` to the terminal in a single write, although curses writes a piece for each
    /// cursor movement. Sends nothing if a crash has restored the terminal meanwhile.
    static func inOneWrite(to screen: Int32, _ draw: () -> Void) {
        _ = cterminal_begin_picture(screen)
        draw()
        cterminal_end_picture(screen)
    }

    /// Lets INT and QUIT end the program, also where they were inherited as ignored. Writing to a closed pipe or past a
    /// file's limit fails, and does not end it.
    static func takeSignals() { cterminal_take_signals() }

    /// Delivers polite signals as bytes in this pipe.
    static func listen(_ pipe: Int32) { cterminal_listen(pipe) }

    /// Called when the byte of a polite signal was read.
    static func heard() { cterminal_heard() }

    /// Ends the program at once when the next signal arrives.
    static func endAtNextSignal() { cterminal_end_at_next_signal() }

    /// Called when the screen is gone for good. Restores the settings and stderr.
    static func disarm() {
        cterminal_disarm()
        cterminal_reset()
        cterminal_show_stderr()
    }

    /// Whether a signal that ends the program is pending.
    static var isDying: Bool { cterminal_is_dying() != 0 }

    /// Stops the process as ^Z does. Returns when it continues.
    static func stop() { cterminal_stop() }

    /// Ends the process by a signal, so that its parent sees it.
    static func die(by signal: Int32) -> Never { cterminal_die(signal) }
}
