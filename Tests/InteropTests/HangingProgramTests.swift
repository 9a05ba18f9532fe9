import HostSockets
import InspectorCore
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// Programs that know nothing of socktui and hang, all of them at once: the right one is named, for the right reason.
@Suite("Why programs hang", .enabled(if: Peer.isUsable("python3")), .timeLimit(.minutes(10)))
struct HangingProgramTests {
    /// A program of `HangingPrograms`, what it said of itself, and what is said of it.
    private final class Hanging {
        let name: String
        let peer: Peer
        let port: UInt16
        let culprit: Int32
        /// Whether it was ever named for what it does, or, of the innocent, seen to do what it does.
        private(set) var isSeen = false
        /// What was worse than a note at any look, by lint.
        private(set) var accused: Set<String> = []
        private var answer: HostAnswer?
        /// A client's TCP port may have the number of a UDP port.
        private var target: HostTarget { name.hasPrefix("udp") ? .datagrams(.port(port)) : .port(port) }

        init(_ name: String) throws {
            self.name = name
            let peer = try Peer(["python3", "-c", HangingPrograms.script, name])
            self.peer = peer
            #expect(eventually { peer.output.contains(UInt8(ascii: "\n")) || peer.hasEnded }, "\(peer.complaints)")
            let words = String(decoding: peer.output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            try #require(words.count == 2, "\(peer.complaints)")
            (port, culprit) = (try #require(UInt16(words[0])), try #require(Int32(words[1])))
        }

        /// What a look says of it. A lint is seen where it names the culprit; words where they are in its story.
        func absorb(_ watch: HostWatch, _ sign: Sign) {
            guard let answer = HostAnswer(target, [], watch.look, watch.judge) else { return }
            self.answer = answer
            accused.formUnion(answer.found.filter { $0.severity > .note }.map(\.lint))
            switch sign {
            case .lint(let lint):
                let isNamed = answer.found.contains { verdict in
                    verdict.lint == lint && verdict.processes.contains { $0.number == culprit }
                }
                // A note may come before the proof.
                if isNamed, lint == "inherited" || accused.contains(lint) { isSeen = true }
            case .words(let words):
                if answer.lines.contains(where: { $0.contains(words) }) { isSeen = true }
            }
        }

        /// What is worse than a note of this look.
        func accusations(of watch: HostWatch) -> Set<String> {
            let found = HostAnswer(target, [], watch.look, watch.judge)?.found ?? []
            return Set(found.filter { $0.severity > .note }.map(\.lint))
        }

        var words: Comment { "\(name): \(answer?.lines ?? []) \(peer.complaints)" }
    }

    private enum Sign {
        case lint(String)
        case words(String)

        /// What the program is accused of.
        var accusations: Set<String> {
            if case .lint(let lint) = self, lint != "inherited" { [lint] } else { [] }
        }
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
        ("wait_all", "MSG_WAITALL"), ("both_read", "Both ends are waiting to read."), ("slow_consumer", "unread"),
        ("low_water", "SO_RCVLOWAT"), ("peek_wait", "is in recv of"), ("nested", "Both ends are waiting to read."),
        ("exclusive", "epoll in"), ("exclusive_busy", "epoll in"), ("low_water_recv", "is in recv of"),
        ("low_water_select", "select"), ("peek_loop", "may check this socket whenever it wakes"),
    ]

    /// It waits for most of a minute, so it takes the main thread: the others are for tests that await.
    @MainActor @Test("each fault is named with its program, and nobody else is accused")
    func all() throws {
        let faults = try Self.faults.map { (try Hanging($0.0), Sign.lint($0.1)) }
        let innocent = try Self.innocent.map { (try Hanging($0.0), Sign.words($0.1)) }
        let all = faults + innocent
        let ports = Set(all.map(\.0.port))
        // One look for all of them, as the list of the host does. What was seen once counts: on a busy machine it need
        // not be there at one and the same look.
        var watch = HostWatch(HostOptions(), LintSettings())
        let isSeen = try eventually(within: .seconds(200)) {
            try watch.settle(span: .zero) { ports.contains($0.local?.port ?? 0) || ports.contains($0.peer?.port ?? 0) }
            for (hanging, sign) in all { hanging.absorb(watch, sign) }
            return all.allSatisfy(\.0.isSeen)
        }
        #expect(isSeen)
        for (hanging, sign) in all {
            #expect(hanging.isSeen && hanging.accused == sign.accusations, hanging.words)
        }
        for (rung, system) in [("calls refused", Self.system(hidesOwners: false)), ("owners, too", Self.system())] {
            var watch = HostWatch(HostOptions(), LintSettings(), system)
            try watch.settle(span: .seconds(7)) { ports.contains($0.local?.port ?? 0) }
            var named: Set<String> = []
            for (hanging, sign) in all {
                let found = hanging.accusations(of: watch)
                #expect(found.isSubset(of: sign.accusations), "\(rung): \(hanging.name) \(found)")
                named.formUnion(found)
            }
            #expect(named.contains("udp-dropped"), "\(rung): \(named)")
        }
    }

    /// A kernel that refuses calls and their arguments, as Yama does, and the descriptors of all programs, as it does of
    /// other users' programs.
    private static func system(hidesOwners: Bool = true) -> HostSystem {
        var system = HostSystem.live
        system.read = { path, offset, limit throws(HostSystem.Failure) in
            if path.hasSuffix("/syscall") { throw HostSystem.Failure(1) }
            return try HostSystem.live.read(path, offset, limit)
        }
        system.memory = { _, _, _ throws(HostSystem.Failure) in throw HostSystem.Failure(1) }
        system.duplicate = { _, _ throws(HostSystem.Failure) in throw HostSystem.Failure(1) }
        guard hidesOwners else { return system }
        system.numbers = { path throws(HostSystem.Failure) in
            if path.hasSuffix("/fd") { throw HostSystem.Failure(13) }
            return try HostSystem.live.numbers(path)
        }
        return system
    }
}
