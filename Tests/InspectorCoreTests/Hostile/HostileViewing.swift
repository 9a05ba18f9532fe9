import InspectorCore
import InspectorScreen
import SocketCore
import SocketRecords

/// A viewer of several hostile programs: all that is made of what they say, by every road.
struct HostileViewing {
    private let choose: (Int) -> Int
    private var programs: [HostileProgram]
    private var merger = ProgramMerger()
    private var model: Model
    private var lines = JSONLines(program: "test", naming: .standard)
    private var text = TextLines()
    private var time: Int64 = 1_000_000_000_000

    private static let sizes = [Size(60, 16), Size(80, 24), Size(120, 35), Size(200, 50), Size(33, 9)]
    private static let keys: [Key] =
        "1234jkgGvFsS<>[]?mMCrAPdbRnNToyf/w x:".map { .character($0) } + [
            .enter, .escape, .tab, .down, .up, .pageDown, .pageUp, .home, .end, .left, .right,
        ]

    init(programs count: Int, _ choose: @escaping (Int) -> Int) {
        self.choose = choose
        programs = (0..<count).map { _ in HostileProgram(choose) }
        model = Model(options: .init(ascii: choose(2) == 0, version: "0"))
    }

    /// Takes one update of each and looks at it; what is wrong with what was made of it, or nil.
    mutating func step() -> String? {
        time += 1_000_000_000
        let now = MonotonicTime(nanoseconds: time)
        let selected = model.list.selected
        var seen: [(snapshot: EngineSnapshot, ordinal: Int)] = []
        for index in programs.indices {
            var watch = InspectionWatch()
            watch.sockets = (1...4).map { SocketID($0) }
            watch.traffic = selected.flatMap { $0.ordinal == index ? $0.own : nil }
            watch.wantsEvents = true
            programs[index].watches(watch)
            if let snapshot = programs[index].update(now: now) { seen.append((snapshot, index)) }
        }
        let request = SnapshotRequest(kernel: .all, eventsFrom: model.log.next, traffic: selected)
        return fault(of: merger.merge(seen, request)) ?? look()
    }

    private mutating func fault(of whole: EngineSnapshot) -> String? {
        let ids = whole.sockets.map(\.id)
        guard zip(ids, ids.dropFirst()).allSatisfy({ $0 < $1 }) else { return "sessions out of order: \(ids)" }
        let numbers = whole.events.map(\.sequence)
        guard zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) else { return "events out of order" }
        guard whole.time.nanoseconds <= time else { return "\(whole.time) is later than now" }
        _ = model.update(.answer(Answer(whole)))
        _ = model.update(.answer(Answer(programs: news)))
        let written = lines.absorb(whole) + [lines.end(whole, status: 0)] + text.absorb(whole) + TextLines.table(whole)
        return written.first(where: Self.isDangerous).map { "not escaped: \($0)" }
    }

    private var news: ProgramNews {
        ProgramNews(
            programs: programs.indices.map {
                ProgramInfo(ordinal: $0, name: HostileValues.texts[choose(HostileValues.texts.count)], process: $0)
            })
    }

    /// Presses keys, and draws what comes of each; saves what there is to save.
    private mutating func look() -> String? {
        for _ in 0..<(4 + choose(12)) {
            if choose(6) == 0 { _ = model.update(.resized(Self.sizes[choose(Self.sizes.count)])) }
            _ = model.update(.key(Self.keys[choose(Self.keys.count)]))
            if let fault = drawn() { return fault }
        }
        guard choose(2) == 0 else { return nil }
        for key: Key in [.escape, .escape, .character("2"), .character("o"), .down, .right, .enter, .escape] {
            _ = model.update(.key(key))
        }
        return drawn()
    }

    private func drawn() -> String? {
        let rows = draw(model, model.size).text.split(separator: "\n")
        let found = rows.first { Self.isDangerous(String($0)) }
        return found.map { "a control character on the screen: \($0.debugDescription)" }
    }

    /// Whether a terminal would act on it.
    private static func isDangerous(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: true
            default: false
            }
        }
    }
}
