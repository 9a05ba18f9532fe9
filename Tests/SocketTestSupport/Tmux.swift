import Glibc

/// A program in a terminal of its own: tmux, a real and independent terminal emulator, one server for each.
public final class Tmux {
    private let server: String

    /// Whether tmux can be had. Where peers are required (`REQUIRE_PEERS=1`) this is true all the same, so that its
    /// absence fails the tests instead of skipping them.
    public static let isUsable: Bool = {
        if let required = getenv("REQUIRE_PEERS"), String(cString: required) == "1" { return true }
        return (try? ChildProcess.run(["tmux", "-V"]))?.status == 0
    }()

    /// Runs a command line of the shell in a terminal of this size.
    /// - Throws: when tmux cannot be run or refuses.
    public init(
        _ command: String, width: Int = 80, height: Int = 24, environment: [String: String?] = [:]
    ) throws {
        server = "socktui-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        var variables = environment
        variables["TMUX"] = .some(nil)
        let words: [String] = [
            "-f", "/dev/null", "start-server", ";", "set", "-g", "remain-on-exit", "on", ";",
            "set", "-g", "status", "off", ";", "set", "-g", "default-terminal", "tmux-256color", ";",
            "set", "-sg", "escape-time", "0", ";",
            "new-session", "-d", "-s", "s", "-x", "\(width)", "-y", "\(height)", command,
        ]
        try ask(words, environment: variables)
    }

    deinit {
        _ = try? ask(["kill-server"])
    }

    /// What is on the screen, one line a row, without the spaces at its right.
    public func text() throws -> String { try ask(["capture-pane", "-p", "-t", "s"]) }

    /// Presses keys by tmux's names: `Enter`, `C-c`, `Escape`, `M-1`, `F7`, `q`.
    public func keys(_ names: String...) throws { try ask(["send-keys", "-t", "s"] + names) }

    /// Types text as it stands.
    public func type(_ text: String) throws { try ask(["send-keys", "-t", "s", "-l", text]) }

    /// Pastes text, in brackets where the program asked for them.
    public func paste(_ text: String) throws {
        try ask(["set-buffer", text, ";", "paste-buffer", "-p", "-t", "s"])
    }

    /// Gives the terminal another size.
    public func resize(_ width: Int, _ height: Int) throws {
        try ask(["resize-window", "-t", "s", "-x", "\(width)", "-y", "\(height)"])
    }

    /// A value that tmux knows of the terminal, such as `#{alternate_on} #{cursor_flag}`.
    public func format(_ format: String) throws -> String {
        let line = try ask(["display-message", "-p", "-t", "s", format])
        return String(line.drop { $0 == "\n" }.prefix { $0 != "\n" })
    }

    /// Asks tmux for anything else, in its own words.
    public func command(_ words: String...) throws -> String { try ask(words) }

    /// Waits until the screen holds this text; false when it does not in time.
    public func waitFor(_ text: String, within limit: Duration = .seconds(100)) throws -> Bool {
        try eventually(within: limit) { try self.text().contains(text) }
    }

    /// Waits until a value is this; false when it does not come about in time.
    public func waitFor(_ format: String, toBe value: String, within limit: Duration = .seconds(100)) throws -> Bool {
        try eventually(within: limit) { try self.format(format) == value }
    }

    /// The process that tmux started in the terminal.
    public func process() throws -> pid_t { pid_t(try format("#{pane_pid}")) ?? -1 }

    /// The processes that the one in the terminal has started and that live.
    public func children() throws -> [pid_t] {
        let parent = try process()
        let list = try ChildProcess.run(["cat", "/proc/\(parent)/task/\(parent)/children"])
        return list.output.split(separator: " ").compactMap { pid_t($0) }
    }

    @discardableResult
    private func ask(_ words: [String], environment: [String: String?] = [:]) throws -> String {
        let outcome = try ChildProcess.run(["tmux", "-u", "-L", server] + words, environment: environment)
        guard outcome.status == 0 else { throw ChildProcess.Failure(description: "tmux: \(outcome.errors)") }
        return outcome.output
    }
}
