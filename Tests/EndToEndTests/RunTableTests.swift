import FoundationEssentials
import Glibc
import SocketTestSupport
import Testing

/// Programs that nobody here wrote, each run bare and under `run`, against one server.
@Suite(
    "Programs under socktui run", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: Peer.isUsable("python3", "git", "curl"), "python3, git or curl is missing"))
struct RunTableTests {
    /// What one program did.
    private struct Row: Decodable, Equatable {
        var name: String
        var status: Int32?
        var output: String?
        /// Why it was not run.
        var skipped: String?
    }

    /// The server, its files and the clients, where an ordinary user may read them.
    private final class Bench {
        let folder: TemporaryFolder
        let database: Peer?
        let peer: Peer
        let port: UInt16
        let isNobody: Bool

        init(asNobody: Bool = false) throws {
            isNobody = asNobody
            folder = try TemporaryFolder()
            let path = folder.path
            for name in ["tools", "www"] { mkdir("\(path)/\(name)", 0o755) }
            for (name, text) in [
                ("server.py", RunTable.server), ("driver.py", RunTable.driver), ("legs.py", RunTable.legs),
                ("prepare.sh", RunTable.preparation), ("tools/ask.go", RunTable.go), ("tools/Ask.java", RunTable.java),
            ] { folder.write(text + "\n", to: name) }
            let prepared = try ChildProcess.run(
                ["bash", "\(path)/prepare.sh", "\(path)/tools", "\(path)/www"], limit: .seconds(240))
            try #require(prepared.status == 0, "\(prepared.errors)")
            _ = try ChildProcess.run(["install", "-m", "755", Program.path, "\(path)/socktui"])
            _ = try ChildProcess.run(["chmod", "-R", "a+rX", path])
            chmod(path, 0o777)
            // sshd refuses a key that others may read.
            chmod("\(path)/tools/host-key", 0o600)
            database = try Self.database(path)
            (peer, port) = try Peer.server {
                ["python3", "\(path)/server.py", "\($0)", "\(path)/www", "\(path)/tools"]
            }
        }

        /// Starts a database without tables or users that listens at a socket among the tools.
        private static func database(_ path: String) throws -> Peer? {
            guard Peer.isUsable("mariadbd") else { return nil }
            mkdir("\(path)/data", 0o700)
            let pair = Certificates.path("server.pem")
            let options = [
                "datadir=\(path)/data", "socket=\(path)/tools/mysql.sock", "ssl-cert=\(pair)", "ssl-key=\(pair)",
            ]
            let flags = [
                "no-defaults", "user=\(String(cString: getpwuid(geteuid()).pointee.pw_name))", "skip-networking",
            ]
            let words = (flags + ["skip-grant-tables", "skip-log-error"] + options).map { "--\($0)" }
            let database = try Peer(["mariadbd"] + words)
            let isReady = eventually {
                database.hasEnded || access("\(path)/tools/mysql.sock", F_OK) == 0
            }
            try #require(isReady && !database.hasEnded, "\(database.complaints)")
            return database
        }

        /// The connections that the server has seen to their ends.
        var connections: [String] { peer.text.split(separator: "\n").map(String.init).sorted() }

        /// Runs programs, or all of them, behind these words.
        func run(_ before: [String], _ programs: [String] = []) throws -> ChildProcess.Outcome {
            let driver = ["python3", "\(folder.path)/driver.py", "\(port)", "\(folder.path)/tools"]
            let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            let words = (isNobody ? user : []) + before + driver + [programs.joined(separator: ",")]
            var environment = Program.environment(folder.path)
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
            // What lies in root's home is not for others.
            if isNobody { environment["PATH"] = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin" }
            return try ChildProcess.run(words, environment: environment, limit: .seconds(240))
        }

        func socktui(_ options: [String]) -> [String] { ["\(folder.path)/socktui", "run"] + options + ["--"] }
    }

    private static func rows(_ text: String) throws -> [Row] {
        try text.split(separator: "\n").filter { $0.hasPrefix("{\"name\"") }
            .map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
    }

    /// Not every distribution that runs the tests has these.
    private static let mayLack: Set = ["ncat", "pip", "python requests"]

    @Test(
        "each prints what it prints without, and its bytes are the same at the server and on both legs",
        arguments: [false, true])
    func table(asNobody: Bool) throws {
        if asNobody, geteuid() != 0 || !Peer.isUsable("setpriv") { return }
        let bench = try Bench(asNobody: asNobody)
        let file = bench.folder.path + "/run.pcapng"
        let run = try bench.run(bench.socktui(["--json", "--record", file]))
        let legs = try ChildProcess.run(["python3", bench.folder.path + "/legs.py", file, "\(bench.port)"])
        let sums = Dictionary(grouping: legs.output.split(separator: "\n")) { $0.prefix(6) }
            .mapValues { $0.map { String($0.dropFirst(7)) }.sorted() }
        try #require(legs.status == 0, "\(legs.errors)")
        #expect(eventually { bench.connections.count == sums["server"]?.count })
        #expect(bench.connections == sums["server"], "what the server got is what its leg sent")
        #expect(sums["client"] == sums["server"], "what one leg received is what the other sent")
        let bare = try Self.rows(try bench.run([]).output)
        let taken = try Self.rows(run.errors)
        for (one, other) in zip(bare, taken) { #expect(one == other) }
        #expect(taken.count == bare.count && !bare.isEmpty && run.status == 0, "\(run.errors.suffix(500))")
        let upgrades = try Report(run.output).lines("event").filter { $0["inside"] == .string("mysql") }
        #expect(upgrades.count == (bare.contains { $0.name == "mysql TLS" && $0.status == 0 } ? 2 : 0))
        let skipped = Set(bare.filter { $0.skipped != nil }.map(\.name))
        print("not run\(asNobody ? " as nobody" : ""): \(bare.compactMap(\.skipped))")
        #expect(!Peer.areRequired || skipped.isSubset(of: Self.mayLack), "\(skipped)")
    }

    /// Kinds of client.
    private static let kinds = ["curl", "psql", "redis-cli", "python asyncio", "node http", "mysql", "ssh"]

    @Test("latency and a breakpoint that lets go change no output, and a reset changes each")
    func faults() throws {
        let bench = try Bench()
        let bare = try Self.rows(try bench.run([], Self.kinds).output).filter { $0.skipped == nil }
        let latency = ["--fault", "downstream latency 30ms"]
        for options in [latency, ["--break", "upstream on bytes 4", "--hold-limit", "50ms"]] {
            let run = try bench.run(bench.socktui(["--json"] + options), Self.kinds)
            #expect(try Self.rows(run.errors).filter { $0.skipped == nil } == bare, "\(options)")
            let report = try Report(run.output)
            let released = report.lines("event").filter { $0["event"] == .string("released") }
            #expect(options == latency || released.count >= bare.count, "\(released.count) released")
        }
        let reset = try bench.run(bench.socktui(["--fault", "upstream after 4 reset"]), Self.kinds)
        for (one, other) in zip(bare, try Self.rows(reset.errors).filter({ $0.skipped == nil })) {
            #expect(one.name == other.name && one != other)
        }
    }
}
