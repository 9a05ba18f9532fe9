import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// The Autobahn test suite, where it is installed.
enum Autobahn {
    /// Where its scripts are, and what they made.
    private static let scripts = #filePath.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/autobahn"
    private static let root =
        variable("AUTOBAHN_ROOT") ?? (variable("XDG_CACHE_HOME") ?? (variable("HOME") ?? "") + "/.cache") + "/autobahn"

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Why it cannot be run; nil: it can.
    static var problem: String? {
        guard variable("SOCKTUI_CONFORMANCE") != nil else {
            return "it takes minutes: script/test --full runs it, as SOCKTUI_CONFORMANCE=sample does in part"
        }
        let python = root + "/py2/bin/wstest"
        guard access(python, X_OK) != 0 else { return nil }
        return "\(python) is missing: Tests/Conformance/autobahn/setup.sh installs it where there is a Python 2.7"
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

        var testDescription: String { name }
    }

    static let core = Part(
        name: "core", exclude: "9.*,12.*,13.*", count: 247, informational: 3)
    static let performance = Part(name: "performance", cases: "9.*", count: 54)
    static let compressionSample = Part(
        name: "compression", cases: "12.*.3,12.*.5,12.*.10,12.*.14,13.*.3,13.*.5,13.*.14", count: 41)
    static let compression = Part(name: "all of compression", cases: "12.*,13.*", count: 216)

    // MARK: A client is tested

    /// Starts the server that tests clients; it writes its reports into `folder`.
    static func server(_ part: Part, _ folder: TemporaryFolder, tls: Bool = false) throws -> (Peer, UInt16) {
        let (peer, port) = try Peer.server(keeping: folder) { port in
            // It says much, and waits where nobody reads that.
            environment(part, folder) + [
                "PORT=\(port)", "TLS=\(tls ? 1 : 0)", "bash", "-c", "exec bash \"$0\" >\"$1\" 2>&1",
                scripts + "/run_fuzzingserver.sh", folder.path + "/log",
            ]
        }
        return (peer, port)
    }

    // MARK: A server is tested

    /// Runs the client that tests servers to its end.
    static func testServer(_ part: Part, at url: String, _ folder: TemporaryFolder) throws -> ChildProcess.Outcome {
        let words = [
            "EXPECT=\(part.count)", "URL=\(url)", "AGENT=SocketKit", "bash", scripts + "/run_fuzzingclient.sh",
        ]
        return try ChildProcess.run(environment(part, folder) + words, limit: .seconds(1_800))
    }

    private static func environment(_ part: Part, _ folder: TemporaryFolder) -> [String] {
        [
            "env", "AUTOBAHN_ROOT=\(root)", "CASES=\(part.cases)", "EXCLUDE=\(part.exclude)",
            "OUTDIR=\(folder.path)/reports", "TMPDIR=\(folder.path)",
        ]
    }

    /// Counts the verdicts in the reports.
    static func verdict(_ part: Part, _ folder: TemporaryFolder) throws -> ChildProcess.Outcome {
        try ChildProcess.run([
            "python3", scripts + "/verdict.py", folder.path + "/reports/index.json", "SocketKit", "--expect",
            "\(part.count)", "--strict",
        ])
    }
}

/// What the suite wants of a client: it sends back every message, by the awaiting surface.
struct AutobahnClient {
    let base: String
    let engine: SocketEngine

    /// Takes all cases, one after the other, and has the reports written.
    func run() async throws {
        let count = try await text("/getCaseCount")
        for number in 1...(Int(count) ?? 0) { await take(number) }
        let last = try await WebSocket.connect(to: base + "/updateReports?agent=SocketKit", on: engine)
        for try await _ in last.messages {}
    }

    private func text(_ path: String) async throws -> String {
        let webSocket = try await WebSocket.connect(to: base + path, on: engine)
        var text = ""
        for try await message in webSocket.messages { text = message.text }
        return text
    }

    private func take(_ number: Int) async {
        do {
            let webSocket = try await WebSocket.connect(
                to: base + "/runCase?case=\(number)&agent=SocketKit", on: engine)
            for try await message in webSocket.messages { try await webSocket.send(message) }
        } catch {
            // Many cases break the protocol: that is what they are for. The suite sees how we took it.
        }
    }
}

/// What the suite wants of a server: it sends back every message, by delegates.
final class AutobahnServer: WebSocketDelegate, WebSocketListenerDelegate {
    private let open = Lock<[ObjectIdentifier: WebSocket]>([:])
    private let listener: WebSocketListener

    init(engine: SocketEngine, tls: TLSSettings? = nil) throws {
        listener = WebSocketListener(engine: engine)
        listener.delegate = self
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: tls)
    }

    var port: UInt16 { listener.localAddress?.port ?? 0 }

    func listener(
        _ listener: WebSocketListener, didAccept webSocket: WebSocket, agreement: WebSocketAgreement
    ) {
        open.withLock { $0[ObjectIdentifier(webSocket)] = webSocket }
        webSocket.delegate = self
    }

    func webSocket(_ webSocket: WebSocket, didReceive message: WebSocketMessage) { webSocket.write(message) }

    func webSocket(_ webSocket: WebSocket, didClose report: WebSocketCloseReport?, error: SocketError?) {
        open.withLock { $0[ObjectIdentifier(webSocket)] = nil }
    }
}
