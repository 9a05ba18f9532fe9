import Glibc
import SocketTestSupport
import Testing

/// The Autobahn test suite, where it is installed.
enum Autobahn {
    /// Where its scripts are, and what they made.
    private static let scripts = #filePath.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/autobahn"
    private static let root =
        variable("AUTOBAHN_ROOT") ?? (variable("XDG_CACHE_HOME") ?? (variable("HOME") ?? "") + "/.cache") + "/autobahn"

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// The end that is tested: `autobahn-peer` of this package, optimized.
    static let peer =
        variable("AUTOBAHN_PEER") ?? scripts.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
        + "/.build/release/autobahn-peer"

    /// Why it cannot be run; nil: it can.
    static var problem: String? {
        guard variable("SOCKTUI_CONFORMANCE") != nil else {
            return "it takes minutes: script/test --all runs it, as SOCKTUI_CONFORMANCE=sample does, or =full"
        }
        let python = root + "/py2/bin/wstest"
        guard access(python, X_OK) == 0 else {
            return "\(python) is missing: Tests/Conformance/autobahn/setup.sh installs it where there is a Python 2.7"
        }
        guard access(peer, X_OK) == 0 else {
            return "\(peer) is missing: swift build -c release --product autobahn-peer"
        }
        return nil
    }

    /// Whether what takes long is to be run too.
    static var isFull: Bool { variable("SOCKTUI_CONFORMANCE") == "full" }

    /// A part of the suite.
    struct Part: Sendable, CustomTestStringConvertible {
        var name: String
        var cases = "*"
        var exclude = ""
        /// How many cases that is, and how many of them are of no verdict.
        var count: Int
        var informational = 0
        var isSecure = false

        var testDescription: String { name }
    }

    static let core = Part(
        name: "core", exclude: "9.*,12.*,13.*", count: 247, informational: 3)
    static let performance = Part(name: "performance", cases: "9.*", count: 54)
    /// Over TLS.
    static let secure = Part(
        name: "over TLS", cases: "1.*,2.*,5.*,7.*", count: 84, informational: 3, isSecure: true)
    static let secureCore = Part(
        name: "core over TLS", exclude: "9.*,12.*,13.*", count: 247, informational: 3, isSecure: true)
    /// Of each family one of 256 bytes and one of 16 KiB in fragments, and one of the longest, 128 KiB; a thousand
    /// messages each.
    static let compressionSample = Part(
        name: "compression", cases: "12.*.3,12.*.12,12.1.10,13.*.3,13.*.12", count: 25)
    static let compression = Part(name: "all of compression", cases: "12.*,13.*", count: 216)

    // MARK: A client is tested

    /// Lets the client take all cases of the server that tests clients, which writes its reports into `folder`.
    static func testClient(_ part: Part, _ folder: TemporaryFolder) throws -> ChildProcess.Outcome {
        let (peer, port) = try Peer.server(keeping: folder) { port in
            // It says much, and waits where nobody reads that.
            environment(part, folder) + [
                "PORT=\(port)", "TLS=\(part.isSecure ? 1 : 0)", "bash", "-c", "exec bash \"$0\" >\"$1\" 2>&1",
                scripts + "/run_fuzzingserver.sh", folder.path + "/log",
            ]
        }
        defer { peer.kill() }
        let client = try ChildProcess.run(
            [Self.peer, "client", "\(part.isSecure ? "wss" : "ws")://127.0.0.1:\(port)"], limit: limit)
        guard client.status == 0 else { return client }
        return try ChildProcess.run([
            "python3", scripts + "/verdict.py", folder.path + "/reports/index.json", "SocketKit", "--expect",
            "\(part.count)", "--strict",
        ])
    }

    // MARK: A server is tested

    /// Runs the client that tests servers to its end.
    static func testServer(_ part: Part, _ folder: TemporaryFolder) throws -> ChildProcess.Outcome {
        let identity = part.isSecure ? ["\(root)/tls/server.crt", "\(root)/tls/server.key"] : []
        let server = try Peer([peer, "server"] + identity)
        try #require(eventually { server.output.last == 10 })
        let port = String(decoding: server.output, as: UTF8.self).filter(\.isNumber)
        let url = part.isSecure ? "wss://localhost:\(port)" : "ws://127.0.0.1:\(port)"
        let words = [
            "EXPECT=\(part.count)", "URL=\(url)", "AGENT=SocketKit", "bash", scripts + "/run_fuzzingclient.sh",
        ]
        return try ChildProcess.run(environment(part, folder) + words, limit: limit)
    }

    /// All of compression takes a quarter of an hour where nothing else runs.
    private static let limit = Duration.seconds(isFull ? 3_600 : 600)

    private static func environment(_ part: Part, _ folder: TemporaryFolder) -> [String] {
        [
            "env", "AUTOBAHN_ROOT=\(root)", "CASES=\(part.cases)", "EXCLUDE=\(part.exclude)",
            "OUTDIR=\(folder.path)/reports", "TMPDIR=\(folder.path)",
        ]
    }
}
