import FoundationEssentials
import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@testable import SockTUI

/// How a view looks with the colours that terminals have: for each row the runs of cells that are not the terminal's
/// own, by columns, with the number of the colour and what is added to it. SOCKTUI_WRITE_SCREENS=1 stores them.
@Suite("Depths of colour")
struct DepthPictures {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("InspectorCoreTests/Screens")

    private static func socket(_ id: UInt64, _ role: SocketRole, _ phase: SocketPhase) -> SocketSnapshot {
        var socket = SocketSnapshot(
            id: SocketID(id), role: role, phase: phase, target: "host\(id).example:7", opened: .zero)
        socket.connected = MonotonicTime(nanoseconds: 1_000_000_000)
        socket.flags = [.socketStarted, .connected]
        return socket
    }

    /// One that is fine, one that starves, one that asks, a listener, and one that failed.
    private static var snapshot: EngineSnapshot {
        var snapshot = EngineSnapshot(
            engine: "test", time: MonotonicTime(nanoseconds: 60_000_000_000), wallNanoseconds: 0)
        var fine = socket(1, .client, .connected)
        fine.reading.current = OperationSnapshot(
            id: OperationID(1), kind: .read(.length(400)), tag: 1, done: 100, total: 400)
        fine.writing = QueueSnapshot(
            current: OperationSnapshot(id: OperationID(2), kind: .write, tag: 2, done: 10, total: 100),
            pendingBytes: 90)
        (fine.receiveRate, fine.sendRate) = (2_000, 100)
        var starved = socket(2, .accepted, .connected)
        starved.kernel = KernelSnapshot()
        starved.kernel?.receiveQueue = 23
        starved.activity.unreadSince = MonotonicTime(nanoseconds: 2_000_000_000)
        var asking = socket(3, .client, .connected)
        asking.reading.current = OperationSnapshot(
            id: OperationID(3), kind: .read(.length(4)), tag: 3, total: 4, isAsking: true, timeout: .seconds(1))
        var failed = socket(5, .client, .closed)
        failed.closed = CloseRecord(
            time: MonotonicTime(nanoseconds: 3_000_000_000),
            error: SocketError(.system(errno: 104), operation: "read", detail: "connection reset by peer"))
        snapshot.sockets = [fine, starved, asking, socket(4, .listener, .listening), failed]
        return snapshot
    }

    private static func canvas(_ keys: [Key]) -> Canvas {
        var model = Model(options: .init(ascii: true, version: "test"))
        _ = model.update(.resized(Size(80, 24)))
        _ = model.update(.answer(Answer(snapshot)))
        for key in [.character("1")] + keys { _ = model.update(.key(key)) }
        return draw(model, Size(80, 24))
    }

    private static func picture(_ canvas: Canvas, _ palette: Palette) -> String {
        var rows: [String] = []
        for y in 0..<canvas.size.height {
            var runs: [String] = []
            var start = 0
            for x in 1...canvas.size.width {
                let here = look(canvas[start, y].style, palette)
                if x < canvas.size.width, look(canvas[x, y].style, palette) == here { continue }
                if !here.isEmpty { runs.append("\(start)-\(x - 1) \(here)") }
                start = x
            }
            if !runs.isEmpty { rows.append("\(y): " + runs.joined(separator: ", ")) }
        }
        return rows.joined(separator: "\n") + "\n"
    }

    private static func look(_ style: Style, _ palette: Palette) -> String {
        let look = palette.look(of: style.role)
        let emphasis = look.emphasis.union(style.emphasis)
        let marks = [(Style.Emphasis.bold, "bold"), (.reverse, "reverse"), (.underline, "underline")]
        let colour = look.foreground >= 0 ? ["\(look.foreground)"] : []
        let words = colour + (look.isDim ? ["dim"] : []) + marks.filter { emphasis.contains($0.0) }.map(\.1)
        return words.joined(separator: " ")
    }

    @Test("the list, its detail, a dialog and a wrong word", arguments: [0, 8, 16, 256])
    func views(colours: Int) throws {
        let palette = Palette(colours: colours, noColour: false)
        var text = ""
        let views: [(String, [Key])] = [
            ("list", []), ("detail", [.character("3")]), ("close", [.character("x")]),
            ("filter", [.character("f")] + "port:x".map { .character($0) }),
        ]
        for (name, keys) in views { text += "== \(name)\n" + Self.picture(Self.canvas(keys), palette) }
        let file = Self.folder.appendingPathComponent("depth-\(colours).looks")
        if ProcessInfo.processInfo.environment["SOCKTUI_WRITE_SCREENS"] == "1" {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try text == String(contentsOf: file, encoding: .utf8), "\(file.lastPathComponent) differs:\n\(text)")
    }

    @Test("a warning and a fault look different from each other and from plain text at every depth")
    func distinct() {
        for colours in [0, 8, 16, 256] {
            let palette = Palette(colours: colours, noColour: false)
            let looks = [Role.plain, .warn, .bad, .cursor, .error].map { Self.look(Style($0), palette) }
            #expect(Set(looks).count == looks.count || colours == 0, "\(colours): \(looks)")
            #expect(looks.dropFirst().allSatisfy { !$0.isEmpty })
        }
    }
}
