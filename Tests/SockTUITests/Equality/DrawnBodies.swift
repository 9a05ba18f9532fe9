import InspectorCore
import InspectorScreen
import SocketKit

/// The bodies of a model's screens, cell by cell: what is between the tabs and the status, without the line to type in.
struct DrawnBodies: Equatable {
    struct Place: Hashable {
        var tab: String
        var size: Size
    }

    static let sizes = [Size(80, 24), Size(120, 35)]
    private static let tabs: [(name: String, key: Character)] = [
        ("list", "1"), ("traffic", "2"), ("detail", "3"), ("events", "4"),
    ]

    private var rows: [Place: [[Cell]]] = [:]

    init(_ drawn: Model, sizes: [Size] = Self.sizes) {
        let model = Self.viewer(drawn)
        for size in sizes {
            for (tab, key) in Self.tabs {
                var model = model
                _ = model.update(.resized(size))
                _ = model.update(.key(.character(key)))
                let (canvas, layout) = (draw(model, size), model.layout(size, model.tab))
                let traffic = layout.trafficLayout
                let parts =
                    model.tab == .events
                    ? [layout.body]
                    : [
                        layout.list, layout.preview, layout.warnings, layout.divider, traffic.queues, traffic.rule,
                        traffic.traffic, layout.detail,
                    ]
                rows[Place(tab: tab, size: size)] = parts.flatMap { part in
                    (part.y..<part.y + part.height).map { y in
                        (part.x..<part.x + part.width).map { canvas[$0, y] }
                    }
                }
            }
        }
    }

    /// A viewer that can do nothing to sockets, and so is told of no keys for that, scrolled so as its selection says.
    private static func viewer(_ model: Model) -> Model {
        var model = model
        if model.isComposing { _ = model.update(.key(.escape)) }
        var file = ProgramInfo(ordinal: 0, name: "", process: 0, rights: .payload)
        file.abilities = []
        _ = model.update(.answer(Answer(programs: ProgramNews(programs: [file]))))
        guard let snapshot = model.shown, let selected = model.list.selected else { return model }
        for key in [.character("1"), .home] as [Key] { _ = model.update(.key(key)) }
        _ = model.update(.command("select \(selected.number)"))
        _ = model.update(.answer(Answer(snapshot)))
        return model
    }

    /// Where it first differs from another, with both rows; `nil`: nowhere.
    func difference(from other: DrawnBodies) -> String? {
        for (place, rows) in rows.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            let others = other.rows[place] ?? []
            guard rows != others else { continue }
            let row = zip(rows, others).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? -1
            func text(_ rows: [[Cell]]) -> String {
                rows.indices.contains(row)
                    ? String(String.UnicodeScalarView(rows[row].compactMap { Unicode.Scalar($0.scalar) }))
                    : "\(rows.count) rows"
            }
            return "\(place.tab) \(place.size.width)x\(place.size.height), row \(row):\n\(text(rows))\n\(text(others))"
        }
        return nil
    }
}

/// What was drawn of one snapshot of a run.
struct Drawn {
    /// Since the first snapshot.
    var distance: Duration
    var selected: SocketID?
    var bodies: DrawnBodies

    /// What goes there, as it is typed.
    var command: String {
        let nanoseconds = distance.wholeNanoseconds
        let fraction = "\(nanoseconds % 1_000_000_000)"
        return "at \(nanoseconds / 1_000_000_000)." + String(repeating: "0", count: 9 - fraction.count) + fraction
    }
}
