import InspectorCore
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// Programs in C and Go, for node and for Java, and one that waits for the rest of a TLS record.
@Suite("Why programs in C and Go, for node and for Java hang", .timeLimit(.minutes(10)))
struct HangingNativeTests {
    private final class Hanging {
        let name: String
        let peer: Peer
        let port: UInt16
        let culprit: Int32
        let expected: String
        private(set) var isSeen = false
        /// What was worse than a note at any look.
        private(set) var accused: Set<String> = []
        private(set) var lines: [String] = []

        /// - Parameter expected: a lint, or words that are told of one who waits rightly.
        init(_ name: String, _ expected: String, _ words: [String], keeping folder: TemporaryFolder) throws {
            (self.name, self.expected) = (name, expected)
            let peer = try Peer(words, keeping: folder)
            self.peer = peer
            #expect(eventually { peer.output.contains(UInt8(ascii: "\n")) || peer.hasEnded }, "\(peer.complaints)")
            let told = String(decoding: peer.output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            try #require(told.count == 2, "\(name): \(peer.complaints)")
            (port, culprit) = (try #require(UInt16(told[0])), try #require(Int32(told[1])))
        }

        var isFaulty: Bool { Lint.named(expected) != nil }

        func absorb(_ watch: HostWatch) {
            guard let answer = HostAnswer(.port(port), [], watch.look, watch.judge) else { return }
            lines = answer.lines
            let own = answer.found.filter { verdict in verdict.processes.contains { $0.number == culprit } }
            let grave = own.filter { $0.severity > .note }.map(\.lint)
            accused.formUnion(grave)
            if isFaulty ? grave.contains(expected) : lines.contains(where: { $0.contains(expected) }) { isSeen = true }
        }
    }

    private static func start() throws -> [Hanging] {
        let folder = try TemporaryFolder()
        func path(_ name: String) -> String { folder.path + "/" + name }
        var all: [Hanging] = []
        func add(_ name: String, _ expected: String, _ words: [String]) throws {
            all.append(try Hanging(name, expected, words, keeping: folder))
        }
        if Peer.isUsable("cc") {
            folder.write(HangingNativePrograms.c, to: "hang.c")
            let made = try ChildProcess.run(["cc", "-w", "-o", path("hang"), path("hang.c")])
            try #require(made.status == 0, "\(made.errors)")
            for (name, expected) in [
                ("never_reads", "unread-unasked"), ("edge", "edge-unread"), ("nested", "edge-unread"),
                ("loop_stuck", "loop-stuck"), ("wait_all", "with MSG_WAITALL"), ("ring", "io_uring"),
            ] {
                try add("C: \(name)", expected, [path("hang"), name])
            }
        }
        if Peer.isUsable("node") {
            folder.write(HangingNativePrograms.node, to: "hang.js")
            try add("node: pause", "write-blocked", ["node", path("hang.js"), "pause"])
            try add("node: Atomics.wait", "loop-stuck", ["node", path("hang.js"), "wait"])
        }
        if Peer.isUsable("java", "javac") {
            folder.write(HangingNativePrograms.java, to: "NeverReads.java")
            let words = ["javac", "-d", folder.path, path("NeverReads.java")]
            let made = try ChildProcess.run(words, limit: .seconds(300))
            try #require(made.status == 0, "\(made.errors)")
            try add("java", "unread-unasked", ["java", "-Xmx64m", "-cp", folder.path, "NeverReads"])
        }
        if Peer.isUsable("go") {
            folder.write(HangingNativePrograms.go, to: "hang.go")
            let settings = ["GOCACHE=" + path("cache"), "GO111MODULE=off", "CGO_ENABLED=0"]
            let words = ["env"] + settings + ["go", "build", "-o", path("hang-go"), path("hang.go")]
            let made = try ChildProcess.run(words, limit: .seconds(300))
            try #require(made.status == 0, "\(made.errors)")
            try add("Go", "edge-unread", [path("hang-go")])
        }
        if Peer.isUsable("python3"), Certificates.problem == nil {
            let identity = [Certificates.path("server.pem"), Certificates.path("server.pem")]
            let words = ["python3", "-c", HangingNativePrograms.halfRecord] + identity
            try add("TLS", "the rest of a record", words)
        }
        return all
    }

    /// On the main thread: it waits long, and the others are for tests that await.
    @MainActor @Test("each fault is named with its program, and who waits rightly is not accused")
    func all() throws {
        let all = try Self.start()
        let ports = Set(all.map(\.port))
        var watch = HostWatch(HostOptions(), LintSettings())
        // What was seen once counts: on a busy machine it need not be there at one and the same look.
        _ = try eventually(within: .seconds(200)) {
            try watch.settle(span: .zero) { ports.contains($0.local?.port ?? 0) || ports.contains($0.peer?.port ?? 0) }
            for hanging in all { hanging.absorb(watch) }
            return all.allSatisfy(\.isSeen)
        }
        for hanging in all {
            let words: Comment = "\(hanging.name): \(hanging.lines) \(hanging.peer.complaints)"
            #expect(hanging.isSeen && hanging.accused == (hanging.isFaulty ? [hanging.expected] : []), words)
        }
    }
}
