import FoundationEssentials
import InspectorCore
import InspectorScreen
import Testing

extension Picture {
    /// Every stored picture. Only distinct layouts are stored as whole screens. Everything else is stored as the part
    /// that differs, so that a changed word changes few files.
    static let all: [Picture] = screens + parts + dialogs + looks

    private static let screens: [Picture] =
        [
            "start", "list", "talk", "detail", "events", "output", "nc", "help", "palette", "host-list", "quit",
            "hosts-list", "hosts-lost",
            "hosts-page",
            "list-unicode", "talk-unicode", "detail-unicode", "nc-unicode", "relay-unicode",
        ].map { screen($0, Size(80, 24)) }
        + ["start", "list", "events", "output", "nc", "help", "host-list", "hosts-list", "hosts-page"].map {
            screen($0, Size(120, 35))
        }
        + ["start", "list", "talk", "detail", "palette", "read", "tls-question"].map { screen($0, Size(40, 10)) }
        + ["list", "ws-talk", "host-list"].map { screen($0, Size(60, 16)) }
        + ["list", "host-list", "help"].map { screen($0, Size(200, 50)) }

    private static let parts: [Picture] =
        [
            "detail-long", "detail-closed", "tls-queued", "tls-asking", "tls-secure", "ws-opening", "ws-refused",
            "ws-half", "ws-open", "ws-closed", "ws-heads", "ws-passing-client", "ws-passing-broken", "host-detail",
            "host-listener", "host-unread", "start-many", "start-chosen", "found", "exchanges", "host-programs",
            "relay", "hosts-detail",
        ].map { part(.pane, $0) }
        + ["found", "exchanges", "host-programs", "relay"].map { part(.pane, $0, Size(120, 35)) }
        + ["talk-hex", "dissected", "relay-talk", "ws-talk", "ws-talk-hex", "ws-passing-talk"].map {
            part(.traffic, $0)
        }
        + [
            parts(
                .header, "headers",
                of: [
                    "frozen", "events-cursor", "list-filter", "attach", "attach-silent", "attach-ended", "attach-two",
                    "rewound", "detail-closed", "relay-talk", "pace", "tls-queued", "ws-closed", "host-programs",
                ]),
            parts(
                .footer, "footers", Size(120, 35),
                of: [
                    "start", "start-typed", "start-error", "talk", "detail", "nc-closed", "frozen", "found",
                    "exchanges", "relay", "relay-legs", "attach", "attach-ended", "rewound", "host-programs",
                    "host-listener", "host-unread",
                    "connect", "read", "read-frame", "answer", "close", "list-filter", "palette-arguments", "tls-list",
                    "tls-list-asking", "ws-half", "ws-half-talk", "ws-passing-list",
                ]),
            parts(
                .pane, "list-states",
                of: [
                    "list-empty", "list-filter", "relay-legs", "attach-two", "marked", "tls-list", "tls-list-asking",
                    "ws-half-list", "ws-passing-list",
                ]),
            parts(
                .preview, "previews",
                of: [
                    "preview-unread", "list-filter", "relay", "relay-legs", "attach", "attach-two", "tls-list",
                    "tls-list-asking", "ws-half-list", "ws-passing-list", "host-list",
                ]),
            parts(.warnings, "warnings", of: ["attach", "preview-unread", "tls-list"]),
            parts(
                .queues, "queues",
                of: [
                    "talk-unread", "talk-listener", "talk-closed", "nc-closed", "relay-talk", "tls-talk",
                    "ws-half-talk", "ws-passing-talk", "host-talk",
                ]),
            parts(
                .traffic, "traffic-states",
                of: ["talk-unread", "talk-listener", "talk-closed", "nc-closed", "dissected-absent", "host-talk"]),
            parts(
                .composer, "composers",
                of: [
                    "talk-composer-escapes", "pace", "talk-unread", "talk-listener", "talk-closed", "nc-closed",
                    "dissected", "relay-talk", "tls-talk", "ws-half-talk", "ws-talk", "ws-passing-talk", "host-talk",
                ]),
            parts(.pane, "start-states", of: ["start-typed", "start-error", "start-programs"]),
            parts(.palette, "palettes", of: ["palette-typed", "palette-arguments"]),
        ]

    private static let dialogs: [Picture] = [
        "connect", "listen", "read", "read-frame", "close", "answer", "answer-waiting", "operations", "operation",
        "watermarks", "pace", "save", "reply", "templates", "marked", "tls-form", "tls-question",
    ].map { part(.dialog, $0) }

    private static let looks: [Picture] =
        [looks("list", [Size(80, 24), Size(120, 35)])]
        + ["start", "talk", "detail", "events", "help", "connect", "nc"].map { looks($0) }
}

@Suite("Pictures")
struct PictureTests {
    static let sizes = [Size(40, 10), Size(60, 16), Size(80, 24), Size(120, 35), Size(200, 50)]

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "Screens")

    /// Compares a picture with the stored one, or stores it if SOCKTUI_WRITE_SCREENS is 1.
    @Test("Every picture is as it is stored", arguments: Picture.all)
    func stored(_ picture: Picture) throws {
        let file = Self.folder.appendingPathComponent(picture.file)
        let text = picture.text()
        #expect(text.contains { $0 != "\n" }, "\(picture.file) is empty")
        if ProcessInfo.processInfo.environment["SOCKTUI_WRITE_SCREENS"] == "1" {
            try text.write(to: file, atomically: true, encoding: .utf8)
            return
        }
        #expect(try text == String(contentsOf: file, encoding: .utf8), "\(picture.file) differs:\n\(text)")
    }

    @Test("Every stored file is a picture that is compared, and each only once")
    func leftOver() throws {
        let names = Picture.all.map(\.file)
        #expect(Set(names).count == names.count)
        // `Tests/SockTUITests/DepthPictures.swift` compares these.
        let depths = [0, 8, 16, 256].map { "depth-\($0).looks" }
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(files).subtracting(names).subtracting(depths) == [], "no test compares these: delete them")
    }

    /// Pairs of a character drawn in Unicode and the one drawn for it in ASCII.
    private static let twins: Set<[UInt32]> = {
        let (unicode, ascii) = (Glyphs.unicode, Glyphs.ascii)
        let members: [KeyPath<Glyphs, Unicode.Scalar>] = [
            \.horizontal, \.vertical, \.topLeft, \.topRight, \.bottomLeft, \.bottomRight, \.barFull, \.barEmpty,
            \.ellipsis, \.sigma, \.continuation, \.arrow,
        ]
        let pairs = members.map { [unicode[keyPath: $0], ascii[keyPath: $0]] }
        return Set((pairs + zip(unicode.ramp, ascii.ramp).map { [$0, $1] }).map { $0.map(\.value) })
    }()

    /// The screens without bytes that are characters in Unicode and escapes in ASCII.
    private static let alikes = (WorldScreens.views + WorldScreens.states).filter {
        !["nc", "nc-closed", "talk-hex"].contains($0)
    }

    @Test("Both sets of characters show the same at every size", arguments: alikes)
    func alike(_ name: String) {
        var models = [true, false].map { WorldScreens.model(name, ascii: $0, Size(80, 24)) }
        for size in Self.sizes {
            for index in models.indices { _ = models[index].update(.resized(size)) }
            let (ascii, unicode) = (draw(models[0], size), draw(models[1], size))
            let differing = (0..<size.height).filter { row in
                (0..<size.width).contains {
                    let (one, other) = (ascii[$0, row], unicode[$0, row])
                    let isTwin = one.scalar == other.scalar || Self.twins.contains([other.scalar, one.scalar])
                    return one.style != other.style || !isTwin
                }
            }
            #expect(differing.isEmpty, "\(size): rows \(differing)\n\(ascii.text)\n\(unicode.text)")
        }
    }

    @Test("Too small a screen says so")
    func tooSmall() {
        func rows(_ size: Size) -> [Substring] {
            draw(WorldScreens.model("list", ascii: true, size), size).text.split(
                separator: "\n", omittingEmptySubsequences: false)
        }
        #expect(
            rows(Size(44, 9)) == [" too small, have 44x9, need 40x10"] + Array(repeating: "", count: 7) + [" q quit"])
        #expect(rows(Size(20, 5)) == ["too small", "have 20x5", "need 40x10", "", " q quit"])
    }

    /// Returns the rows of a pane without dashes, blanks and the keys that differ with the focus.
    private static func rows(_ part: Rect, _ canvas: Canvas) -> [String] {
        canvas.text(in: part).split(separator: "\n", omittingEmptySubsequences: false).map { row in
            let keys = [
                "(2 v)": "(v)", "(2 F)": "(F)", "(2 Enter": "(Enter", "more: 1 f": "more: f", "below (j)": "below",
            ]
            return keys.reduce(String(row)) { $0.replacing($1.key, with: $1.value) }.filter { $0 != "-" && $0 != " " }
        }
    }

    @Test("A wide screen shows the same panes, whichever has the focus", arguments: [Size(120, 35), Size(200, 50)])
    func focus(_ size: Size) {
        for names in [
            ["list", "talk", "detail"], ["preview-unread", "talk-unread"], ["host-list", "host-detail"],
        ] {
            let drawn = names.map { name in
                let model = Screen.named(name).model(size)
                return Self.rows(model.layout.body, draw(model, size))
            }
            for other in drawn.dropFirst() { #expect(other == drawn[0]) }
        }
    }

    /// Sentences that distinguish these screens from others.
    private static let words: [(String, Size, String)] = [
        (
            "list-filter-bad", Size(80, 24),
            " state:nowhere: no such state; estab, close-wait, listen, closed...\n filter state:nowhere\n"
        ),
        (
            "list-filter-bad", Size(40, 10),
            "\n state:nowhere: no such state; estab,\n close-wait, listen, closed...\n filter state:nowhere\n"
        ),
        (
            "list-filter-bad", Size(120, 35),
            " filter state:nowhere                               state:nowhere: no such state; estab, close-wait, listen, "
                + "closed...\n"
        ),
        (
            "talk-hex", Size(80, 24),
            "- traffic ------------------------------------------- text (v)   following (F) -\n"
        ),
        (
            "talk-escaped", Size(80, 24),
            "- traffic ------------------------------------ escaped (v)   not following (F) -\n"
        ),
        (
            "talk-escaped", Size(80, 24),
            #"\ \xce\xd5\xdc\xe3\xea\xf1\xf8\0\x07\x0e\x15\x1c#*18?FMT\\cjqx\x7f\x86\x8d\x94"#
        ),
        (
            "events-cursor", Size(80, 24),
            " 14:02:10.942090 #7     reading off    -    bytes are waiting, but no read is\n"
                + "                        queued for them\n"
        ),
        ("help-moved", Size(120, 35), ">3                the detail: "),
        ("ws-passing-target", Size(80, 24), "\n22 more lines below (j)\n"),
    ]

    @Test("A screen that differs from another by a sentence has it", arguments: words)
    func sentence(_ name: String, _ size: Size, _ words: String) {
        let text = draw(Screen.named(name).model(size), size).text
        #expect(text.contains(words), "\(words) is missing:\n\(text)")
    }

    @Test("Frozen events stay as they were", arguments: sizes)
    func frozen(_ size: Size) {
        let panes = ["events", "frozen"].map { ScreenPart.pane.text(Screen.named($0).model(size), size) }
        #expect(panes[0] == panes[1])
    }

    @Test("A dialog is the same on larger screens, where it had room")
    func largerDialogs() {
        for name in [
            "connect", "listen", "read", "close", "answer", "operations", "marked", "tls-form", "tls-question",
        ] {
            let screen = Screen.named(name)
            let texts = [Size(80, 24), Size(120, 35), Size(200, 50)].map {
                ScreenPart.dialog.text(screen.model($0), $0)
            }
            #expect(Set(texts).count == 1, "\(name):\n\(texts.joined(separator: "\n"))")
        }
    }
}
