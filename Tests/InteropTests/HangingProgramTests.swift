import InspectorCore
import SocketTestSupport
import Testing

@testable import SockTUI

/// Programs that know nothing of socktui and hang, all of them at once: the right one is named, for the right reason.
@Suite("Why programs hang", .enabled(if: Peer.isUsable("python3")), .timeLimit(.minutes(5)))
struct HangingProgramTests {
    /// A program of `HangingPrograms`, what it said of itself, and what is said of it.
    private final class Hanging {
        let name: String
        let peer: Peer
        let port: UInt16
        let culprit: Int32
        var answer: HostAnswer?
        /// What was worse than a note at any look, by lint.
        var accused: Set<String> = []

        init(_ name: String) throws {
            self.name = name
            let peer = try Peer(["python3", "-c", HangingPrograms.script, name])
            self.peer = peer
            #expect(eventually { peer.output.contains(UInt8(ascii: "\n")) || peer.hasEnded }, "\(peer.complaints)")
            let words = String(decoding: peer.output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            try #require(words.count == 2, "\(peer.complaints)")
            (port, culprit) = (try #require(UInt16(words[0])), try #require(Int32(words[1])))
        }

        func take(_ watch: HostWatch) {
            answer = HostAnswer(.port(port), [], watch.look, watch.judge)
            accused.formUnion(answer?.found.filter { $0.severity > .note }.map(\.lint) ?? [])
        }

        func isNamed(for lint: String) -> Bool { answer?.found.contains { $0.lint == lint } ?? false }
        var words: Comment { "\(name): \(answer?.lines ?? [])" }
    }

    private static let faults = [
        ("never_reads", "unread-unasked"), ("reply_unread", "unread-unasked"), ("both_write", "deadlock"),
        ("ring", "deadlock"), ("accept_stuck", "accept-stuck"), ("backlog_full", "accept-full"),
        ("close_wait", "close-wait"), ("loop_stuck", "loop-stuck"), ("one_shot", "unread-unasked"),
        ("edge", "edge-unread"), ("send_blocked", "write-blocked"), ("poll_without", "unread-unasked"),
        ("select_without", "unread-unasked"), ("udp_slow", "udp-dropped"), ("inherited", "inherited"),
        ("chain", "write-blocked"), ("trickle", "unread-unasked"),
    ]

    /// Those who wait rightly, and what is said of them.
    private static let innocent = [
        ("wait_all", "MSG_WAITALL"), ("both_read", "Both ends wait to read."), ("slow_consumer", ""),
    ]

    /// It waits for most of a minute, so it takes the main thread: the others are for tests that await.
    @MainActor @Test("each fault is named with its program, and nobody else is accused")
    func all() throws {
        let faults = try Self.faults.map { (hanging: try Hanging($0.0), lint: $0.1) }
        let innocent = try Self.innocent.map { (hanging: try Hanging($0.0), words: $0.1) }
        let ports = Set((faults.map(\.hanging) + innocent.map(\.hanging)).map(\.port))
        // One look for all of them, as `host --check` does.
        _ = eventually(within: .seconds(150)) {
            var watch = HostWatch(HostOptions(), LintSettings())
            try? watch.settle(span: nil) { ports.contains($0.local?.port ?? 0) || ports.contains($0.peer?.port ?? 0) }
            for hanging in faults.map(\.hanging) + innocent.map(\.hanging) { hanging.take(watch) }
            return faults.allSatisfy { $0.hanging.isNamed(for: $0.lint) }
        }
        for (hanging, lint) in faults {
            let verdict = hanging.answer?.found.first { $0.lint == lint }
            #expect(verdict?.processes.contains { $0.number == hanging.culprit } == true, hanging.words)
            #expect(hanging.accused == (lint == "inherited" ? [] : [lint]), hanging.words)
        }
        for (hanging, words) in innocent {
            #expect(hanging.accused.isEmpty, hanging.words)
            #expect(words.isEmpty || hanging.answer?.lines.contains { $0.contains(words) } == true, hanging.words)
        }
    }
}
