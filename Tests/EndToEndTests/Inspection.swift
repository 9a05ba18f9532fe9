import Glibc
import SocketTestSupport
import Testing

/// The program in a terminal of its own, with files of its own; all of it goes with this.
final class Inspection {
    let tmux: Tmux
    let process: pid_t
    private let folder: TemporaryFolder

    /// Starts it and waits until it has the screen; `recent` is what it opened before, `editor` its $EDITOR.
    init(
        _ arguments: String, width: Int = 80, height: Int = 24, recent: String? = nil, editor: String? = nil
    ) throws {
        folder = try TemporaryFolder()
        if let recent {
            mkdir(folder.path + "/socktui", 0o700)
            folder.write(recent, to: "socktui/recent")
        }
        tmux = try Tmux(
            "exec \(Program.path) \(arguments)", width: width, height: height,
            environment: Program.environment(folder.path).merging(["EDITOR": editor, "VISUAL": nil]) { $1 })
        process = try tmux.process()
        try tmux.waitForScreen()
    }

    /// The rows of the screen.
    func rows() throws -> [String] {
        try tmux.text().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Waits for a text on the screen; the test ends here when it does not come.
    func wait(for text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let comment: Comment = "waited for \(text)"
        guard try !tmux.waitFor(text) else { return }
        try #require(Bool(false), "\(comment)\n\(tmux.picture)", sourceLocation: sourceLocation)
    }

    /// Types a line and presses Enter.
    func send(_ line: String) throws {
        try tmux.type(line)
        try tmux.keys("Enter")
    }

    /// Waits for the first connection of a listener, whose keys are commands, and moves the cursor to its line.
    func write() throws { try tmux.write() }

    /// Its connection to or from this port, as `ss` has it.
    func statistics(peerPort: UInt16) throws -> SocketStatistics? {
        try SocketStatistics.all().first { $0.peerPort == peerPort && $0.processes.contains(process) }
    }
}

extension Tmux {
    /// Does what `Inspection.write()` does.
    func write() throws {
        try #require(try waitFor("w write"), picture)
        try keys("w")
        try #require(try waitFor("Enter send"), picture)
    }
}

extension Peer {
    /// The program, listening on a free port, and the port.
    static func listening(_ options: String = "", width: Int = 80, height: Int = 24) throws -> (Inspection, UInt16) {
        let port = try freePort()
        let inspection = try Inspection("listen 127.0.0.1:\(port) \(options)", width: width, height: height)
        try inspection.wait(for: "waiting for connections")
        return (inspection, port)
    }
}
