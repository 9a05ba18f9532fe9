import InspectorCore
import SocketCore

/// A host whose programs choose their names, paths and queues to harm whoever reads metrics of them.
struct HostileHost {
    private let choose: (Int) -> Int
    private var world = HostWorld()
    private var verdicts: [Verdict] = []

    private static let names = [
        "", "a", "other", "unknown", "[7]", "x[1]", "a\"b", "a\\", "a\\n", "a\nb", "a{b=\"c\"} 1", "# TYPE a gauge",
        "\u{0}",
        "\u{1B}[2J", "\u{202E}b", "\u{9B}2J", "e\u{301}", "\u{E9}", "\u{FEFF}", "\u{FE0F}", "日本", ",", "=", "}", " ",
        String(repeating: "x", count: 300), String(repeating: "e\u{301}", count: 90),
        "a" + String(repeating: "\u{301}", count: 500), String(repeating: "\"", count: 64) + "\\",
    ]
    private static let queues: [Int64] = [0, 0, 1, 127, 128, 4_100_000, Int64(UInt32.max)]
    private static let ages: [Duration?] = [nil, .zero, .nanoseconds(1), .seconds(-5), .seconds(86_400 * 365 * 200)]

    /// `choose` gives a number from 0 to one less than its argument.
    init(_ choose: @escaping (Int) -> Int) {
        self.choose = choose
        for number in 1...(choose(32) == 31 ? 260 : 1 + choose(20)) { addProgram(Int32(number)) }
        for _ in 0..<choose(6) { addVerdict() }
    }

    private func pick<Value>(_ values: [Value]) -> Value { values[choose(values.count)] }

    /// A name from the table, with bytes of any kind behind it.
    private func name() -> String {
        let bytes = (0..<choose(5)).map { _ in UInt8(choose(256)) }
        return pick(Self.names) + String(native: bytes)
    }

    private mutating func addProgram(_ number: Int32) {
        world.program(number, name(), pick([.futex, .running, .sleep]))
        for index in 0...choose(4) {
            let descriptor = Int32(index * 2)
            switch choose(5) {
            case 0:
                let id = world.listen(number, descriptor, port: UInt16(choose(4)), limit: pick(Self.queues))
                world[id].receiveQueue = pick(Self.queues)
            case 1:
                let (client, server) = world.pair((number, descriptor), (number, descriptor + 1), path: "/" + name())
                world[client].sendQueue = pick(Self.queues)
                world[server].receiveQueue = pick(Self.queues)
            case 2: world[world.datagrams(number, descriptor, port: 53)].receiveQueue = pick(Self.queues)
            case 3: _ = world.reach((number, descriptor), port: UInt16(choose(4)))
            default:
                let (client, server) = world.connect((number, descriptor), nil, port: 80)
                (world[client].state, world[server].state) = (pick(HostState.allCases), pick(HostState.allCases))
                (world[client].sendQueue, world[server].receiveQueue) = (pick(Self.queues), pick(Self.queues))
            }
        }
    }

    private mutating func addVerdict() {
        var verdict = Verdict("\(name())", lasting: pick(Self.ages))
        verdict.lint = pick(Lint.all).name
        verdict.severity = pick(Severity.allCases)
        verdict.subject = pick([nil, name(), "a[1]", "127.0.0.1:80", "a[1]+3"])
        (verdict.count, verdict.more) = (1 + choose(3), choose(3))
        verdict.sockets = [UInt64(1 + choose(4))]
        let number = Int32(choose(256))
        verdict.processes = choose(3) == 0 ? [] : [HostProcess.ID(number: number, start: UInt64(number))]
        verdicts.append(verdict)
    }

    // MARK: What is told

    /// Looks, and returns what is wrong with the metrics of the look, or nil.
    func fault() -> String? {
        let (found, _, judge) = world.judged(at: [10, 11, 11.31])
        let look = world.look(11.31)
        var rows = HostRows()
        let snapshot = rows.snapshot(of: look, by: judge, found, wallNanoseconds: 1_700_000_000_000_000_000)
        let all = found + verdicts
        let text = HostMetrics.metrics(of: snapshot, look, by: judge, all, processorTime: .zero, version: "1.2").text
        do throws(Exposition.Problem) {
            let told = try Exposition(text)
            return faultOfLabels(told) ?? faultOfVerdicts(told, all) ?? faultOfSums(told, snapshot)
        } catch {
            return error.sentence
        }
    }

    private func faultOfLabels(_ told: Exposition) -> String? {
        for sample in told.samples {
            guard sample.value >= 0 else { return "below 0: \(sample)" }
            for value in sample.labels.values where value.unicodeScalars.contains(where: Self.isDangerous) {
                return "a terminal would act on \(value.debugDescription)"
            }
            guard sample["program"].utf8.count <= 64 else { return "a long name: \(sample)" }
        }
        let programs = Set(told.samples.map { $0["program"] }).count
        let listeners = told.samples.count { $0.name == "socktui_accept_queue_connections" }
        guard programs <= 202, listeners <= 50, told.samples.count <= 600 else {
            return "\(programs) programs, \(listeners) listeners, \(told.samples.count) series"
        }
        return nil
    }

    private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private func faultOfVerdicts(_ told: Exposition, _ all: [Verdict]) -> String? {
        var wanted: [String: Double] = [:], had: [String: Double] = [:]
        for verdict in all {
            wanted["\(verdict.lint) \(verdict.severity.name)", default: 0] += Double(verdict.count + verdict.more)
        }
        for sample in told.samples where sample.name == "socktui_verdicts" {
            had["\(sample["lint"]) \(sample["severity"])", default: 0] += sample.value
        }
        return wanted == had ? nil : "verdicts \(had), not \(wanted)"
    }

    /// Compares the samples with the lines that `--json` prints of the same look, added up.
    private func faultOfSums(_ told: Exposition, _ snapshot: EngineSnapshot) -> String? {
        let kinds = ["socktui_sockets", "socktui_unread_bytes", "socktui_unsent_bytes"]
        let samples = told.samples.filter { kinds.contains($0.name) }
        let named = Set(samples.map { $0["program"] })
        var wanted: [[String]: Double] = [:], had: [[String]: Double] = [:]
        for sample in samples {
            had[[sample.name, sample["program"], sample["transport"], sample["state"]], default: 0] += sample.value
        }
        var lines = JSONLines(program: "test", naming: CommandNaming { $0 })
        for line in lines.absorb(snapshot) {
            guard let json = try? JSONReader.read(Array(line.utf8)) else { return "not JSON: \(line)" }
            guard json["type"]?.string == "socket", let host = json["host"], json["closed"] == .null else { continue }
            let name = host["program"]?.string.map(HostMetrics.name) ?? "unknown"
            let program = named.contains(name) ? name : "other"
            wanted[[kinds[0], program, host["transport"]?.string ?? "", json["state"]?.string ?? ""], default: 0] += 1
            for (kind, member) in [(kinds[1], "unread_bytes"), (kinds[2], "unsent_bytes")] {
                guard let bytes = host[member]?.integer, bytes > 0 else { continue }
                wanted[[kind, program, "", ""], default: 0] += Double(bytes)
            }
        }
        return Self.difference(had, wanted)
    }

    private static func difference(_ had: [[String]: Double], _ wanted: [[String]: Double]) -> String? {
        for key in Set(had.keys).union(wanted.keys) where had[key] != wanted[key] {
            return "\(key): \(had[key] ?? 0) in metrics, \(wanted[key] ?? 0) in JSON"
        }
        return nil
    }
}
