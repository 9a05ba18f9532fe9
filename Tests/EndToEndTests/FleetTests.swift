import Glibc
import SocketTestSupport
import Testing

/// Programs that hang on several hosts, seen from outside of them.
@Suite("Several hosts", .serialized, .timeLimit(.minutes(10)))
struct FleetTests {
    /// Runs until the output has this text, since a busy machine may need longer than one run to prove it.
    private func run(_ arguments: [String], until text: String) throws -> ChildProcess.Outcome {
        var last = try Program.run(arguments)
        for _ in 0..<5 where !last.output.contains(text) { last = try Program.run(arguments) }
        return last
    }

    @Test(
        "two programs on two hosts that both write and do not read are named with their hosts",
        .enabled(if: FleetHosts.isPossible, "\(FleetHosts.need)"))
    func deadlock() throws {
        let hosts = try FleetHosts("web:50000000-db:50000000")
        let places = hosts.through("web") + hosts.through("db")
        let why = try run(["why", "@web:9100"] + places, until: "DEADLOCK")
        #expect(why.status == 1 && why.output.contains("DEADLOCK"), "\(why.output)\(why.errors)")
        // Both have the same number in their own namespace of processes.
        #expect(why.output.contains("[1] on web and "), "\(why.output)")
        #expect(why.output.contains("[1] on db are both writing"), "\(why.output)")
        #expect(why.output.contains("Both ends agree in addresses and in bytes counted."), "\(why.output)")
        #expect(why.output.contains("(web)") && why.output.contains("(db)"), "\(why.output)")
        let check = try run(["host", "@web", "@db", "--check", "--json"] + places, until: #""lint":"deadlock""#)
        let members = #""machines":["web","db"],"pairing":"counters""#
        #expect(check.status == 1 && check.output.contains(members), "\(check.output)")
        let rows = try Program.run(["host", "@web", "@db", "--once", "--json"] + places)
        #expect(rows.status == 0 && rows.output.contains(#""machine":"web","#), "\(rows.output)\(rows.errors)")
        #expect(rows.output.contains(#""peer_machine":"db","#) && rows.output.contains(#""peer_machine":"web","#))
        // One end alone blames an address.
        let alone = try run(["host", "--check"] + hosts.through("web"), until: "10.9.0.2:40001 has blocked")
        #expect(alone.output.contains("10.9.0.2:40001 has blocked"), "\(alone.output)")
        #expect(!alone.output.contains("deadlock"), "\(alone.output)")
    }

    @Test(
        "two connections with each other's addresses, as a transparent proxy makes them, are never one",
        .enabled(if: FleetHosts.isPossible, "\(FleetHosts.need)"))
    func proxy() throws {
        let hosts = try FleetHosts("web:50000000-near:50000000", "far:100000-db:50000000")
        let places = hosts.through("web") + hosts.through("db")
        let check = try run(["host", "--check"] + places, until: "10.9.0.1:9100 has blocked")
        for peer in ["10.9.0.2:40001", "10.9.0.1:9100"] {
            #expect(check.output.contains("\(peer) has blocked"), "\(check.output)")
        }
        #expect(!check.output.lowercased().contains("deadlock"), "\(check.output)")
    }

    @Test("a host that is not there is said with the reason, and the status says so")
    func problems() throws {
        let folder = try Program.folder()
        func script(_ name: String, _ text: String, mode: mode_t = 0o700) throws -> String {
            let file = open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, mode)
            try #require(file >= 0)
            let text = "#!/bin/sh\n\(text)\n"
            #expect(write(file, text, text.utf8.count) == text.utf8.count)
            close(file)
            return "\(folder)/\(name)"
        }
        let cases = [
            ("/nonexistent", "No such file or directory"),
            (try script("a", "", mode: 0o600), "Permission denied"),
            (try script("b", "echo no route >&2; exit 255"), "status 255: no route"),
            (try script("c", "exec nosuchprogram"), "a command was not found"),
            (try script("d", "exec yes"), "64 KiB of something else"),
            (try script("e", "printf 'hello\\0socktui-agent\\n\\0\\0\\0'"), "the connection was lost"),
            (try script("f", "printf '\\0socktui-agent\\n\\0\\0\\0\\1\\24'"), "broke the protocol"),
        ]
        for (path, words) in cases {
            let outcome = try Program.run("host", "--check", "--through", "far=\(path) agent")
            #expect(outcome.status == 3 && outcome.errors.contains("far: "), "\(path): \(outcome.errors)")
            #expect(outcome.errors.contains(words), "\(path): \(outcome.errors)")
        }
        // The others are looked at.
        let outcome = try Program.run("host", "@.", "--check", "--through", "far=/nonexistent agent")
        #expect([0, 1].contains(outcome.status) && outcome.output.contains("sockets"), "\(outcome.output)")
        #expect(outcome.errors.contains("far: "), "\(outcome.errors)")
        let rows = try Program.run("host", "@.", "--once", "--json", "--through", "far=/nonexistent agent")
        #expect(rows.status == 0 && rows.output.contains(#""machine":"."#) && rows.errors.contains("far: "))
        let none = try Program.run("host", "--once", "--through", "far=/nonexistent agent")
        #expect(none.status == 3 && none.errors.contains("far: ") && none.errors.contains("no host"), "\(none.errors)")
        let strict = try Program.run("host", "@.", "--check", "--strict", "--through", "far=/nonexistent agent")
        #expect(strict.status == 3)
    }

    @Test("what names a host wrongly, or where hosts do not go, is refused")
    func refusals() throws {
        for (arguments, words) in [
            (["why", "@-x:1"], "@-x:1: is not a host"), (["why", "@web"], "name what hangs"),
            (["why", ":9000", "@web"], "write where it is: @NAME:9000"), (["host", "@web", "--netns", "1"], "--netns"),
            (["host", "@web:80", "--check"], "why @web:80"), (["host", "--check", "--through", "x"], "NAME=COMMAND"),
            (["host", "@web", "--peek"], "--peek"), (["host", "@web", "--metrics", "[::1]:1"], "--metrics"),
            (["why", "@web:1", "--secure"], "off under sudo and with --secure"), (["agent", "x"], "no operand"),
        ] {
            let outcome = try Program.run(arguments)
            #expect(outcome.status == 2 && outcome.errors.contains(words), "\(arguments): \(outcome.errors)")
        }
    }

    @Test("an agent ends at the end of its input")
    func agent() throws {
        let outcome = try Program.run("agent")
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
    }
}
