import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("Any size, any content")
struct SizeTests {
    private static let paths: [[Key]] = [
        [], [.character("2")], [.character("2"), .character("v")], [.character("3")], [.character("4")],
        [.character("?")], [.character("c"), .tab], [.character("r")], [.character("x")], [.character("A")],
        [.character("f")], [.enter],
    ]

    /// What is wrong with a picture; nil: nothing.
    private static func fault(_ canvas: Canvas) -> String? {
        let cells = canvas.cells
        for y in 0..<canvas.size.height {
            var before = 1
            for x in 0..<canvas.size.width {
                let cell = cells[y * canvas.size.width + x]
                if SanitizerTests.isDangerous(cell.scalar) || cell.marks.all.contains(where: SanitizerTests.isDangerous)
                {
                    return "a control character at \(x),\(y)"
                }
                if (before == 2) != (cell.width == 0) { return "half a character at \(x),\(y)" }
                before = Int(cell.width)
            }
            if before == 2 { return "half a character at the end of row \(y)" }
        }
        guard let cursor = canvas.cursor else { return nil }
        let isInside = cursor.x >= 0 && cursor.x < canvas.size.width && cursor.y >= 0 && cursor.y < canvas.size.height
        return isInside ? nil : "the cursor is outside"
    }

    private static func check(_ canvas: Canvas, _ location: SourceLocation = #_sourceLocation) {
        let fault = fault(canvas)
        #expect(fault == nil, "\(fault ?? "") of \(canvas.size):\n\(canvas.text)", sourceLocation: location)
    }

    @Test("Keys can be pressed at any size from 1x1 to 200x50", arguments: paths.indices)
    func everySize(_ index: Int) {
        for width in stride(from: 1, through: 200, by: 13) {
            for height in stride(from: 1, through: 50, by: 9) {
                let size = Size(width, height)
                var model = World.model(once: true, size: size)
                for key in Self.paths[index] { model.press(key) }
                Self.check(draw(model, size))
                // The terminal may have changed since the last message.
                Self.check(draw(model, Size(height, width)))
            }
        }
    }

    /// Draws each screen at every 17th width and every seventh height, and at the widths where panes appear. Screens next
    /// to each other in the list start at different sizes, so that together they cover all.
    @Test("Every pane and every dialog is drawn from 1x1 to 200x50", arguments: Screen.all.indices)
    func everyScreen(_ index: Int) {
        let screen = Screen.all[index]
        var model = screen.model(Size(80, 24))
        let heights = Array(stride(from: 1 + index % 7, through: 50, by: 7))
        let widths = Array(stride(from: 1 + index % 17, through: 200, by: 17)) + [39, 40, 59, 60, 119, 120]
        for (step, width) in widths.enumerated() {
            let size = Size(width, heights[step % heights.count])
            _ = model.update(.resized(size))
            Self.check(draw(model, size))
        }
    }

    @Test("Every kind of pane and of dialog is among the screens that are drawn at every size")
    func kinds() {
        var (tabs, forms, choices) = (Set<Model.Tab>(), Set<String>(), Set<String>())
        for screen in Screen.all {
            let model = screen.model(Size(80, 24))
            tabs.insert(model.tab)
            switch model.dialogs.open {
            case .form(let form): forms.insert(Self.kind(form.purpose))
            case .menu(let menu): choices.formUnion(menu.items.map { Self.kind($0.choice) })
            case nil: break
            }
        }
        #expect(tabs == Set(Model.Tab.allCases))
        let allForms: Set = [
            "connect", "listen", "read", "answer", "timeout", "watermarks", "tls", "reply", "pace", "save",
            "saveMarked",
            "destination",
        ]
        #expect(forms == allForms)
        let allChoices: Set = [
            "close", "trust", "showDetail", "halfClose", "sayClose", "paste", "answerConnection", "operation", "cancel",
            "changeTimeout", "answer", "template", "addReply", "setReplies", "marked", "quit", "peek", "stay",
            "release",
            "typeRelease", "editHeld", "askReset", "resetHeld", "breaksOff", "column",
        ]
        #expect(choices == allChoices)
    }

    /// The switches are exhaustive, so that a new case must be added here, and then to the screens.
    private static func kind(_ purpose: Form.Purpose) -> String {
        switch purpose {
        case .connect: "connect"
        case .listen: "listen"
        case .read: "read"
        case .answer: "answer"
        case .timeout: "timeout"
        case .watermarks: "watermarks"
        case .tls: "tls"
        case .reply: "reply"
        case .pace: "pace"
        case .save: "save"
        case .saveMarked: "saveMarked"
        case .destination: "destination"
        }
    }

    private static func kind(_ choice: Menu.Choice) -> String {
        switch choice {
        case .close: "close"
        case .trust: "trust"
        case .showDetail: "showDetail"
        case .halfClose: "halfClose"
        case .sayClose: "sayClose"
        case .paste: "paste"
        case .answerConnection: "answerConnection"
        case .operation: "operation"
        case .cancel: "cancel"
        case .changeTimeout: "changeTimeout"
        case .answer: "answer"
        case .template: "template"
        case .addReply: "addReply"
        case .setReplies: "setReplies"
        case .marked: "marked"
        case .quit: "quit"
        case .peek: "peek"
        case .stay: "stay"
        case .release: "release"
        case .typeRelease: "typeRelease"
        case .editHeld: "editHeld"
        case .askReset: "askReset"
        case .resetHeld: "resetHeld"
        case .breaksOff: "breaksOff"
        case .column: "column"
        }
    }

    @Test("Hostile names, peers, errors and bytes stay in their cells", arguments: 0..<6)
    func hostile(_ seed: Int) {
        var generator = SeededGenerator(UInt64(seed) + 77)
        func text() -> String {
            String(decoding: SanitizerTests.random(&generator, count: 60), as: UTF8.self)
        }
        var snapshot = World.full
        for index in snapshot.sockets.indices {
            snapshot.sockets[index].target = text()
            snapshot.sockets[index].name = text()
            snapshot.sockets[index].peer = .unix(path: text())
            snapshot.sockets[index].kernel?.state = text()
            if snapshot.sockets[index].closed != nil {
                snapshot.sockets[index].closed?.error = SocketError(.other, operation: text(), detail: text())
            }
            snapshot.sockets[index].reading.current?.kind =
                .read(.delimiter(SanitizerTests.random(&generator, count: 20), limit: nil))
        }
        snapshot.traffic?.items.append(
            TrafficItem(
                sequence: 9, operation: OperationID(1), time: World.now, direction: .received, tag: .max,
                kind: .read(.available(limit: .max)), done: .max, total: nil, state: .failed(text()),
                bytes: SanitizerTests.random(&generator, count: 900)))
        for isASCII in [false, true] {
            for path in Self.paths {
                for size in [Size(60, 16), Size(80, 24), Size(140, 40)] {
                    var model = Model(options: .init(ascii: isASCII, version: "0"))
                    _ = model.update(.resized(size))
                    _ = model.update(.snapshot(snapshot))
                    _ = model.update(.snapshot(snapshot))
                    for key in path { model.press(key) }
                    _ = model.update(.refused(text()))
                    Self.check(draw(model, size))
                }
            }
        }
    }

    @Test("Extreme numbers do not trap")
    func extremes() {
        var snapshot = World.full
        for index in snapshot.sockets.indices {
            snapshot.sockets[index].received = .max
            snapshot.sockets[index].sent = .max
            snapshot.sockets[index].accepted = .max
            snapshot.sockets[index].receiveRate = .infinity
            snapshot.sockets[index].sendRate = -1
            snapshot.sockets[index].opened = MonotonicTime(nanoseconds: -5)
            snapshot.sockets[index].prebuffered = 1 << 60
            snapshot.sockets[index].writing.pendingBytes = .max
            snapshot.sockets[index].writing.pendingCount = .max
            snapshot.sockets[index].reading.current?.done = .max
            snapshot.sockets[index].reading.current?.total = .max
            snapshot.sockets[index].kernel?.sendQueue = .max
            snapshot.sockets[index].kernel?.notSent = -1
            snapshot.sockets[index].kernel?.receiverWindowLimited = .nan
        }
        snapshot.wallNanoseconds = .max
        for path in Self.paths {
            var model = Model(options: .init(ascii: true, version: "0"))
            _ = model.update(.snapshot(snapshot))
            for key in path { model.press(key) }
            Self.check(draw(model, Size(140, 40)))
            Self.check(draw(model, Size(80, 24)))
        }
    }

    @Test("Any keys in any order leave a model that can be drawn", arguments: 0..<12)
    func randomKeys(_ seed: Int) {
        var generator = SeededGenerator(UInt64(seed) + 5)
        let keys: [Key] =
            Array("jkgG1234[]wrxAPvFsS/nNf?lcq hyb7\\u{").map { .character($0) } + [
                .enter, .tab, .backTab, .escape, .up, .down, .left, .right, .home, .end, .pageUp, .pageDown, .backspace,
                .delete, .control("d"), .control("u"), .alt("1"), .alt("t"), .alt("e"), .alt("a"), .function(1),
                .altEnter,
            ]
        var model = World.model(once: true, size: Size(80, 24))
        for step in 0..<250 {
            if let key = keys.randomElement(using: &generator) { model.press(key) }
            if step % 7 == 0 { _ = model.update(.snapshot(step % 2 == 0 ? World.full : Conversation.snapshot())) }
            if step % 31 == 0 { _ = model.update(.resized(Size(Int.random(in: 1..<150, using: &generator), 24))) }
            Self.check(draw(model, model.size))
        }
    }

    @Test("Nine thousand sockets are drawn row by row")
    func many() {
        var snapshot = World.snapshot((1...9000).map { World.make($0, .accepted, .connected, target: "") })
        for index in snapshot.sockets.indices { snapshot.sockets[index].receiveRate = Double(index % 977) }
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.resized(Size(140, 40)))
        _ = model.update(.snapshot(snapshot))
        model.press(.character("G"))
        #expect(draw(model, Size(140, 40)).text.contains("live 9000"))
        #expect(model.list.selected == model.list.rows.last)
    }
}

@Suite("Room for what matters")
struct RoomOnScreenTests {
    private static func model(_ count: Int, _ size: Size) -> Model {
        var snapshot = EngineSnapshot(engine: "e", time: MonotonicTime(nanoseconds: 1), wallNanoseconds: 0)
        snapshot.sockets = (1...UInt64(count)).map {
            SocketSnapshot(id: SocketID($0), role: .client, phase: .connected, target: "a:1", opened: .zero)
        }
        var model = Model(options: Model.Options(ascii: true, version: "test"))
        _ = model.update(.resized(size))
        _ = model.update(.snapshot(snapshot))
        return model
    }

    @Test("one connection leaves 35 rows of traffic at 200x50, and the list never takes more than a third from it")
    func traffic() {
        #expect(Self.model(1, Size(200, 50)).layout.traffic.height >= 35)
        let crowded = Self.model(1_000, Size(200, 50)).layout
        #expect(crowded.list.height <= crowded.body.height / 3)
        #expect(crowded.traffic.height >= 20)
    }

    @Test("a taller window never shows less traffic")
    func monotone() {
        for count in [1, 5, 40, 1_000] {
            let heights = (10...80).map { Self.model(count, Size(120, $0)).layout.traffic.height }
            #expect(zip(heights, heights.dropFirst()).allSatisfy { $0 <= $1 }, "\(count): \(heights)")
        }
    }

    @Test("z gives the pane with the focus the whole screen, and back")
    func zoom() {
        var model = Self.model(3, Size(200, 50))
        model.press(.character("2"))
        let before = model.layout
        model.press(.character("z"))
        #expect(model.layout.trafficPane == model.layout.body && model.layout.list.height == 0)
        model.press(.character("1"))
        #expect(model.layout.list == model.layout.body)
        model.press(.character("2"), .character("z"))
        #expect(model.layout == before)
    }

    @Test("every pane has rows down to 40x10")
    func smallest() {
        var model = Self.model(3, Size(40, 10))
        #expect(!model.layout.isTooSmall && model.layout.listRows >= 3)
        model.press(.character("2"))
        #expect(model.layout.traffic.height >= 2)
        model.press(.character("3"))
        #expect(model.layout.detail.height >= 5)
    }
}
