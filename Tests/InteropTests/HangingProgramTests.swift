import InspectorCore
import SocketTestSupport
import Testing

@testable import SockTUI

/// Programs that know nothing of socktui and hang: the right one is named, for the right reason.
@Suite("Why programs hang", .enabled(if: Peer.isUsable("python3")), .timeLimit(.minutes(5)))
struct HangingProgramTests {
    /// A program of `HangingPrograms`, and what it said of itself.
    private struct Hanging {
        let peer: Peer
        let port: UInt16
        let culprit: Int32

        init(_ name: String) throws {
            let peer = try Peer(["python3", "-c", HangingPrograms.script, name])
            self.peer = peer
            #expect(eventually { peer.output.contains(UInt8(ascii: "\n")) || peer.hasEnded }, "\(peer.complaints)")
            let words = String(decoding: peer.output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            try #require(words.count == 2, "\(peer.complaints)")
            (port, culprit) = (try #require(UInt16(words[0])), try #require(Int32(words[1])))
        }

        /// What `socktui why :PORT` says once it says something of this kind; else what it says in the end.
        func why(until holds: (HostAnswer) -> Bool) throws -> HostAnswer {
            var answer: HostAnswer?
            _ = eventually(within: .seconds(100)) {
                var watch = HostWatch(HostOptions(), LintSettings())
                answer = try? HostRun.why(.port(port), HostOptions(), &watch)
                return answer.map(holds) ?? false
            }
            return try #require(answer)
        }
    }

    @Test(
        "the program at fault is named",
        arguments: [
            ("never_reads", "unread-unasked"), ("reply_unread", "unread-unasked"), ("both_write", "deadlock"),
            ("ring", "deadlock"), ("accept_stuck", "accept-stuck"), ("backlog_full", "accept-full"),
            ("close_wait", "close-wait"), ("loop_stuck", "loop-stuck"), ("one_shot", "unread-unasked"),
            ("edge", "edge-unread"), ("send_blocked", "write-blocked"), ("poll_without", "unread-unasked"),
            ("select_without", "unread-unasked"), ("udp_slow", "udp-dropped"), ("inherited", "inherited"),
            ("chain", "write-blocked"), ("trickle", "unread-unasked"),
        ])
    func faults(_ name: String, _ lint: String) throws {
        let hanging = try Hanging(name)
        let answer = try hanging.why { $0.found.contains { $0.lint == lint } }
        let verdict = try #require(answer.found.first { $0.lint == lint }, "\(answer.lines)")
        #expect(verdict.processes.contains { $0.number == hanging.culprit }, "\(answer.lines)")
        #expect(verdict.severity > .note || lint == "inherited")
        #expect(!answer.found.contains { $0.severity > .note && $0.lint != lint }, "\(answer.lines)")
    }

    @Test(
        "who waits rightly is not accused, and it is said for what",
        arguments: [("wait_all", "MSG_WAITALL"), ("both_read", "Both ends wait to read.")])
    func innocent(_ name: String, _ words: String) throws {
        let hanging = try Hanging(name)
        let answer = try hanging.why { $0.lines.contains { $0.contains(words) } }
        #expect(answer.lines.contains { $0.contains(words) }, "\(answer.lines)")
        #expect(!answer.found.contains { $0.severity > .note }, "\(answer.lines)")
    }

    @Test("a slow consumer is not accused")
    func slow() throws {
        let hanging = try Hanging("slow_consumer")
        for _ in 0..<3 {
            let answer = try hanging.why { _ in true }
            #expect(!answer.found.contains { $0.severity > .note }, "\(answer.lines)")
        }
    }
}
