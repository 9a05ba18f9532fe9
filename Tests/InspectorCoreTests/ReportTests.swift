import SocketRecords
import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("Reports as text")
struct ReportTests {
    private func snapshot(seconds: Int64, _ change: (inout EngineSnapshot) -> Void = { _ in }) -> EngineSnapshot {
        var snapshot = EngineSnapshot(
            engine: "e", time: MonotonicTime(nanoseconds: seconds * 1_000_000_000),
            wallNanoseconds: 1_795_269_600_000_000_000 + seconds * 1_000_000_000)
        change(&snapshot)
        return snapshot
    }

    private func socket(_ number: UInt64) -> SocketSnapshot {
        // Just begun, so that nothing is wrong with it yet.
        let now = MonotonicTime(nanoseconds: 3_000_000_000)
        return SocketSnapshot(id: SocketID(number), role: .client, phase: .connecting, target: "h:1", opened: now)
    }

    @Test(
        "JSON is what RFC 8259 says, and holds nothing that a terminal acts on",
        arguments: [
            (JSON.string("a\"b\\c/\n\r\t"), #""a\"b\\c/\n\r\t""#),
            (JSON.string("\u{0}\u{1B}\u{7F}\u{9B}\u{202E}é漢"), #""\u0000\u001b\u007f\u009b\u202eé漢""#),
            (JSON.string("\u{E0001}"), #""\udb40\udc01""#),
            (JSON.object([JSON.Member("a", .array([.null, .bool(true), .integer(-7)]))]), #"{"a":[null,true,-7]}"#),
            (JSON.number(0.034), "0.034"), (JSON.number(2), "2"), (JSON.number(.infinity), "null"),
            (JSON(seconds: .nanoseconds(1_500_000_001)), "1.500000001"),
            (JSON(milliseconds: .microseconds(34)), "0.034"),
            (JSON(word: "afterReading"), #""after_reading""#), (JSON.array([]), "[]"),
        ])
    func json(value: JSON, text: String) {
        #expect(value.text == text)
    }

    @Test(
        "instants are RFC 3339, leap days among them",
        arguments: [
            (0, "1970-01-01T00:00:00.000000000Z"), (951_782_400_000_000_001, "2000-02-29T00:00:00.000000001Z"),
            (1_709_251_199_999_999_999, "2024-02-29T23:59:59.999999999Z"),
            (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000000000Z"),
        ])
    func instant(nanoseconds: Int64, text: String) {
        #expect(Format.instant(wallNanoseconds: nanoseconds) == text)
    }

    @Test("each program's engine has a line of its own, measured by its own times")
    func engines() {
        func merged(_ seconds: Int64, _ busy: [Int64]) -> EngineSnapshot {
            var merger = ProgramMerger()
            let parts = busy.enumerated().map { ordinal, busy in
                // The later one in turn, as updates come.
                let offset = (Int64(ordinal) + seconds) % 2
                var part = snapshot(seconds: seconds) {
                    $0.time = MonotonicTime(nanoseconds: seconds * 1_000_000_000 + offset)
                    $0.times.busy = .milliseconds(busy)
                    $0.counters.turns = UInt64(seconds) * 10 * UInt64(ordinal + 1)
                    $0.sockets = [socket(1)]
                    $0.sockets[0].received = UInt64(seconds)
                }
                part.engine = "e\(ordinal)"
                return (snapshot: part, ordinal: ordinal)
            }
            return merger.merge(parts, SnapshotRequest())
        }
        let others = Surroundings(
            process: 1,
            programs: [
                ProgramInfo(ordinal: 0, name: "a", process: 70), ProgramInfo(ordinal: 1, name: "b", process: 71),
            ])
        var lines = JSONLines(program: "p", naming: .standard)
        _ = lines.absorb(merged(1, [50_000, 100]), among: others)
        let told = lines.absorb(merged(3, [50_500, 1_900]), among: others).filter { $0.contains(#""type":"engine""#) }
        #expect(told.count == 2)
        for (line, (share, process)) in zip(told, [("0.25", 70), ("0.9", 71)]) {
            #expect(line.contains(#""busy_share":\#(share)"#) && line.contains(#""process":\#(process)"#), "\(line)")
        }
        #expect(told.last?.contains(#""turns_per_s":20,"#) == true && told.last?.contains(#""engine":"e1""#) == true)
    }

    @Test("a session is told again only when something of it has changed")
    func changes() {
        var lines = JSONLines(program: "p", naming: .standard)
        #expect(lines.absorb(snapshot(seconds: 1) { $0.sockets = [socket(1)] }).count == 3)
        #expect(lines.absorb(snapshot(seconds: 2) { $0.sockets = [socket(1)] }).isEmpty)
        let both = lines.absorb(
            snapshot(seconds: 3) {
                $0.sockets = [socket(1), socket(2)]
                $0.sockets[0].received = 7
            })
        #expect(both.count == 3 && both[2].contains(#""type":"engine""#))
        #expect(both[0].contains(#""id":1"#) && both[0].contains(#""received_bytes":7"#))
        #expect(both[1].hasPrefix(#"{"v":1,"type":"socket","time":"2026-11-21T"#))
    }

    @Test("events come once, and what was overwritten is counted where it is missing")
    func events() {
        func event(_ sequence: UInt64) -> SocketEvent {
            SocketEvent(sequence: sequence, time: .zero, socket: SocketID(1), kind: .readDone, tag: 5, first: 3)
        }
        var lines = JSONLines(program: "p", naming: .standard)
        var texts = TextLines()
        let first = snapshot(seconds: 1) {
            $0.events = [event(0), event(1)]
            $0.nextEvent = 2
        }
        let second = snapshot(seconds: 2) {
            $0.events = [event(1), event(4)]
            $0.nextEvent = 6
        }
        #expect(lines.absorb(first).count == 4)
        let told = lines.absorb(second)
        #expect(told.count == 5 && lines.nextEvent == 6)
        #expect(told[3].contains(#""id":null,"lint":"events-lost""#), "the engine's warnings are told too")
        #expect(told[0].contains(#""type":"lost""#) && told[0].hasSuffix(#""events":2,"next_sequence":4}"#))
        #expect(told[1].hasSuffix(#""sequence":4,"id":1,"event":"read_done","tag":5,"bytes":3}"#))
        #expect(told[2].hasSuffix(#""events":1,"next_sequence":6}"#))
        #expect(
            texts.absorb(first).map { $0.dropFirst(16) } == Array(repeating: "#1     read done      t5   3 B", count: 2)
        )
        #expect(texts.absorb(second).count == 3)
    }

    @Test("of other programs' sockets, all rows are written first, then those that are new or have closed")
    func outside() {
        func row(_ number: UInt64, isClosed: Bool = false) -> SocketSnapshot {
            var row = socket(number)
            row.host = HostSnapshot(HostSocket(id: number, .tcp, .established, time: .zero, inode: number))
            if isClosed { row.phase = .closed }
            return row
        }
        var texts = TextLines()
        let first = texts.absorb(snapshot(seconds: 1) { $0.sockets = [row(1), row(2)] })
        #expect(first.count == 3 && first[0].contains("STATE"))
        #expect(texts.absorb(snapshot(seconds: 2) { $0.sockets = [row(1), row(2)] }).isEmpty)
        let second = texts.absorb(snapshot(seconds: 3) { $0.sockets = [row(1), row(2, isClosed: true), row(3)] })
        #expect(second.count == 2 && second.contains { $0.contains("closed") })
        #expect(texts.absorb(snapshot(seconds: 4) { $0.sockets = [row(1), row(3)] }).isEmpty)
    }

    @Test("a table of everything has a row for each session, also where there are warnings")
    func warned() {
        let rows = TextLines.table(World.full)
        #expect(rows.count == World.full.joinedCount + 1 && rows.allSatisfy { !$0.isEmpty }, "\(rows)")
    }

    @Test("the list in text has a row for each session, however many")
    func table() {
        let rows = TextLines.table(snapshot(seconds: 1) { $0.sockets = (1...300).map { socket($0) } })
        #expect(rows.count == 301)
        #expect(rows[0].contains("STATE") && rows[300].contains("SYN-SENT"))
    }
}
