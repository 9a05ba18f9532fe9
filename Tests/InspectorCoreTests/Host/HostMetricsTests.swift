import SocketCore
import Testing

@testable import InspectorCore

/// What `host --metrics` tells Prometheus.
@Suite("Metrics of the host")
struct HostMetricsTests {
    private func text(
        _ world: HostWorld, at times: [Double] = [10, 11, 11.31], also others: [Verdict] = []
    ) -> MetricsText {
        var (found, _, judge) = world.judged(at: times)
        found += others
        let look = world.look(times[times.count - 1])
        var rows = HostRows()
        let snapshot = rows.snapshot(of: look, by: judge, found, wallNanoseconds: 1_700_000_000_250_000_000)
        return HostMetrics.metrics(
            of: snapshot, look, by: judge, found, processorTime: .milliseconds(1_500), version: "1.2")
    }

    private func samples(_ family: String, _ metrics: MetricsText) -> [String] {
        metrics.text.split(separator: "\n").filter { $0.hasPrefix(family) }.map { String($0.dropFirst(family.count)) }
    }

    @Test("one look: sockets by program and state, bytes, queues, and the program of each problem")
    func look() {
        let metrics = text(HostBlockingTests.deadlock())
        #expect(samples("socktui_build_info", metrics) == ["{version=\"1.2\"} 1"])
        #expect(samples("socktui_look_timestamp_seconds", metrics) == [" 1700000000.25"])
        #expect(samples("socktui_looks_total", metrics) == [" 3"])
        #expect(samples("socktui_look_cpu_seconds_total", metrics) == [" 1.5"])
        #expect(
            samples("socktui_sockets", metrics) == [
                "{program=\"api.py\",transport=\"tcp\",state=\"ESTAB\"} 1",
                "{program=\"api.py\",transport=\"tcp\",state=\"LISTEN\"} 1",
                "{program=\"worker.py\",transport=\"tcp\",state=\"ESTAB\"} 1",
            ])
        #expect(
            samples("socktui_unread_bytes", metrics) == [
                "{program=\"api.py\"} 4100000", "{program=\"worker.py\"} 4100000",
            ])
        #expect(
            samples("socktui_unsent_bytes", metrics) == [
                "{program=\"api.py\"} 2500000", "{program=\"worker.py\"} 2500000",
            ])
        let listener = "{program=\"api.py\",listen=\"0.0.0.0:9000\"}"
        #expect(samples("socktui_accept_queue_connections", metrics) == ["\(listener) 0"])
        #expect(samples("socktui_accept_queue_limit_connections", metrics) == ["\(listener) 128"])
        let labels = "{lint=\"deadlock\",severity=\"critical\",program=\"worker.py\",fault=\"here\"}"
        #expect(samples("socktui_verdict_seconds", metrics).first?.hasPrefix("\(labels) 11") == true)
        #expect(samples("socktui_verdicts", metrics).count == 1)
        #expect(samples("socktui_hidden", metrics).contains("{what=\"processes\"} 0"))
    }

    @Test("nothing has a label that grows with time: no process number, no peer")
    func labels() {
        let metrics = text(HostBlockingTests.deadlock()).text
        #expect(!metrics.contains("4711") && !metrics.contains("127.0.0.1:4"))
        #expect(MetricFamily.allCases.allSatisfy { !$0.row.labels.contains("pid") && !$0.row.labels.contains("peer") })
    }

    @Test("no series tells how long answers take, because no socket of a look has such times")
    func answers() {
        let world = HostBlockingTests.deadlock()
        let (found, _, judge) = world.judged(at: [10, 11, 11.31])
        var rows = HostRows()
        let snapshot = rows.snapshot(of: world.look(11.31), by: judge, found, wallNanoseconds: 0)
        #expect(!snapshot.sockets.isEmpty && snapshot.sockets.allSatisfy { $0.exchanges == nil })
        #expect(!text(world).text.contains("answer"))
    }

    @Test("a sum of a fact has its name and its meaning, and the number of every fact is found")
    func facts() {
        let facts = FactTeller(HostSnapshot.blank).facts
        let sums = MetricFamily.allCases.filter { $0.row.help.hasPrefix("Sum of") }
        for family in sums {
            let fact = facts.first { $0.name == family.row.fact }
            #expect(fact.map { family.row.help.hasSuffix(": \($0.text).") } == true, "\(family)")
        }
        #expect(MetricFamily.unread.name == "socktui_unread_bytes" && sums.count == 4)
        var host = HostSnapshot.blank
        (host.unread, host.unsent, host.waiting, host.waitingLimit) = (1, 2, 3, 4)
        var figures = FactFigures()
        #expect(
            Dictionary(uniqueKeysWithValues: figures.figures(of: host)) == [
                .unread: 1, .unsent: 2, .waiting: 3, .waitingLimit: 4,
            ])
    }

    @Test("10,000 sockets of 400 programs in many states are at most 500 series, and none is left out of the sums")
    func limits() {
        var world = HostWorld()
        for number in 1...400 { world.program(Int32(number), "program\(number)") }
        for index in 0..<5_000 {
            let number = Int32(index % 400 + 1)
            let (client, server) = world.connect((number, Int32(index)), (number, Int32(index + 5_000)), port: 80)
            world.jam(client, into: server)
        }
        for number in 1...400 { _ = world.listen(Int32(number), 20_000, port: UInt16(1_000 + number)) }
        let metrics = text(world, at: [10])
        #expect(metrics.count <= 500)
        let sockets = samples("socktui_sockets", metrics)
        let counts = sockets.map { line in line.split(separator: " ").last.flatMap { Int($0) } ?? 0 }
        #expect(counts.reduce(0, +) == 10_400)
        #expect(sockets.contains { $0.contains("program=\"other\"") })
        #expect(samples("socktui_accept_queue_connections", metrics).count == HostMetrics.mostListeners)
    }

    @Test(
        "only the address of the peer is a fault elsewhere",
        arguments: [
            ("192.0.2.7:80", "far"), ("api.py[7]", "here"), ("api.py[7]+3", "here"), ("api.py[7] and b", "here"),
        ])
    func faults(subject: String, fault: String) {
        var world = HostWorld()
        world.program(7, "api.py")
        let id = world.reach((7, 3), port: 80)
        var verdict = Verdict("a claim")
        (verdict.lint, verdict.subject, verdict.sockets) = ("unread", subject, [id])
        verdict.processes = [HostProcess.ID(number: 7, start: 7)]
        let told = samples("socktui_verdicts", text(world, at: [10], also: [verdict]))
        #expect(told == ["{lint=\"unread\",severity=\"critical\",program=\"api.py\",fault=\"\(fault)\"} 1"])
    }

    @Test("a program that a problem is about keeps its name, however many others have more sockets")
    func blamed() {
        var world = HostBlockingTests.deadlock()
        for number in 1...300 {
            world.program(Int32(number), "busy\(number)")
            for other in 0..<3 { _ = world.listen(Int32(number), Int32(other), port: UInt16(10_000 + number)) }
        }
        let metrics = text(world)
        #expect(samples("socktui_verdicts", metrics).first?.contains("program=\"worker.py\"") == true)
    }

    @Test(
        "a name is the program's, without its number, safe for a terminal and not too long",
        arguments: [
            ("nginx[812]", "nginx"), ("a[1][22]", "a[1]"), ("[3]", "unknown"), ("", "unknown"),
            ("kworker/0:1", "kworker/0:1"),
            (String(repeating: "ä", count: 100) + "[7]", String(repeating: "ä", count: 32)),
        ])
    func names(title: String, name: String) { #expect(HostMetrics.name(title) == name) }

    @Test("control characters of a name reach nobody's terminal, and quotes stay inside the label")
    func hostile() {
        var world = HostWorld()
        world.program(1, "a\"b\\c\u{1B}[2J\nd")
        _ = world.listen(1, 3, port: 80)
        let text = text(world, at: [10]).text
        #expect(!text.contains("\u{1B}") && text.contains(#"program="a\"b\\c"#))
        #expect(MetricsText.escaped("a\\b\"c\nd") == #"a\\b\"c\nd"#)
    }
}
