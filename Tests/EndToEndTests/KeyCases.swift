import InspectorCore

/// What a key of the table must do, seen in a terminal: from the beginning of its place `before` is pressed, then the
/// key, then `behind`; then the screen must hold all of `shows` and nothing of `hides`.
struct KeyCase {
    var before: [String] = []
    var behind: [String] = []
    var shows: [String] = []
    var hides: [String] = []
    /// The cursor of the list must be on this connection.
    var selects: Int?
    /// The program must have ended.
    var ends = false
    /// The program's log must hold this.
    var logs = ""

    static func shows(_ texts: String...) -> KeyCase { KeyCase(shows: texts) }
    static func hides(_ texts: String...) -> KeyCase { KeyCase(hides: texts) }

    /// What must come of a command in a place; nil: nobody has said it.
    static func of(_ command: Command, in place: KeyContext) -> KeyCase? {
        own(place)[command] ?? (KeyTable.rebindable.contains(place) ? views[command] : nil) ?? everywhere[command]
    }

    private static func own(_ place: KeyContext) -> [Command: KeyCase] {
        switch place {
        case .start: start
        case .list: list
        case .talk: talk
        case .detail: detail
        case .events: events
        case .composer: composer
        case .field: field
        case .form: form
        case .menu: menu
        case .help: help
        }
    }

    private static let everywhere: [Command: KeyCase] = [
        .repaint: KeyCase(before: ["scribble"], hides: ["SCRIBBLE"]), .suspend: KeyCase(logs: "stopped for"),
        .interrupt: .shows("will be closed"), .help: .shows(" help: "),
        .commandLine: .shows("Tab completes  Enter does it"),
    ]

    private static let views: [Command: KeyCase] = [
        .showList: .shows("[1 List]"), .showTalk: .shows("[2 Talk]"), .showDetail: .shows("[3 Detail]"),
        .showEvents: .shows("[4 Events]"), .connect: .shows("Enter connect"), .listen: .shows("Enter listen"),
        .read: .shows("queue a read on #1"), .close: .shows("close #1 "), .answer: .shows("nothing waits"),
        .write: .shows("Enter send"), .open: .shows("Enter send"), .freeze: .shows("FROZEN"),
        .quit: .shows("will be closed"), .back: .shows("[1 List]"), .filter: .shows("\n filter", "Enter keep"),
        .follow: .shows("not following"), .pause: KeyCase(behind: ["4"], shows: ["paused"]),
        .secure: .shows("with TLS"), .replies: .shows("Enter set it"), .operations: .shows("#1"),
        .watermarks: .shows("atermark"),
    ]

    private static let list: [Command: KeyCase] = [
        .moveUp: KeyCase(before: ["j", "j"], selects: 2), .moveDown: KeyCase(selects: 2),
        .moveFirst: KeyCase(before: ["j"], selects: 1), .moveLast: KeyCase(selects: 12),
        .pageDown: KeyCase(selects: 10), .pageUp: KeyCase(before: ["G"], selects: 3),
        .halfPageDown: KeyCase(selects: 6), .halfPageUp: KeyCase(before: ["G"], selects: 7),
        .nextPane: .shows("[2 Talk]"), .previousPane: .shows("[4 Events]"), .sortNext: .shows("sort state"),
        .sortReverse: KeyCase(before: ["j"], shows: ["sort id v"]), .sortPrevious: .shows("sort !"),
        .mark: .shows("1*>"), .showMarked: KeyCase(before: ["m"], shows: ["marked (M)"]),
        .chooseColumns: .shows("[ ] AGE"), .search: .shows("\n find"), .searchNext: .shows("nothing is searched"),
        .searchPrevious: .shows("nothing is searched"), .follow: .shows("following (F)"),
        .back: KeyCase(before: ["f", "type port:1", "Enter"], hides: ["filter port:1"]),
    ]

    /// What a pane does that follows its end.
    private static let following: [Command: KeyCase] = [
        .moveUp: .shows("not following"), .moveDown: KeyCase(before: ["k"], hides: ["not following"]),
        .moveLast: KeyCase(before: ["g"], hides: ["not following"]), .pageUp: .shows("not following"),
        .pageDown: KeyCase(before: ["PPage"], hides: ["not following"]), .halfPageUp: .shows("not following"),
        .halfPageDown: KeyCase(before: ["C-u"], hides: ["not following"]),
    ]

    private static let talk: [Command: KeyCase] = following.merging([
        .moveFirst: .shows("* connected"), .nextPane: .shows("Enter send"), .previousPane: .shows("[1 List]"),
        .previousConnection: KeyCase(before: ["]"], shows: ["#1 127."]), .nextConnection: .shows("#2 127."),
        .search: .shows("\n find"), .searchNext: .shows("nothing is searched"),
        .searchPrevious: .shows("nothing is searched"), .copy: .shows("clipboard"),
        .save: .shows("save bytes of #1"), .edit: .shows("ended with status 3"),
        .cycleView: .shows("hex+text (v)"), .expand: KeyCase(before: ["v"], shows: ["(Enter fold)"]),
    ]) { $1 }

    private static let events: [Command: KeyCase] = following.merging([
        .moveFirst: .shows("socktui        -"), .nextPane: .shows("[1 List]"), .previousPane: .shows("[3 Detail]"),
        .search: .shows("\n find"), .searchNext: .shows("nothing is searched"),
        .searchPrevious: .shows("nothing is searched"), .jump: .shows("[2 Talk]"),
    ]) { $1 }

    private static let detail: [Command: KeyCase] = [
        .moveUp: KeyCase(before: ["j"], shows: ["#1 client"]), .moveDown: .hides("#1 client"),
        .moveFirst: KeyCase(before: ["G"], shows: ["#1 client"]), .moveLast: .shows("last bytes"),
        .pageDown: .hides("#1 client"), .pageUp: KeyCase(before: ["NPage"], shows: ["#1 client"]),
        .halfPageDown: .hides("#1 client"), .halfPageUp: KeyCase(before: ["C-d"], shows: ["#1 client"]),
        .nextPane: .shows("[4 Events]"), .previousPane: .shows("Enter send"),
        .previousConnection: KeyCase(before: ["]"], shows: ["#1 client"]), .nextConnection: .shows("#2 client"),
    ]

    private static let composer: [Command: KeyCase] = [
        .destination: .shows("a stream has one peer"),
        .send: KeyCase(before: ["type abc"], shows: ["write 5 B"]),
        .insertLine: KeyCase(before: ["type a"], shows: ["= 3 bytes"]),
        .historyUp: KeyCase(before: ["type abc", "Enter"], shows: ["= 3 bytes"]),
        .historyDown: KeyCase(before: ["type abc", "Enter", "Up"], hides: ["= 3 bytes"]),
        .halfClose: .shows("FIN goes out"), .showList: .shows("[1 List]"), .showTalk: .shows("? help  q back"),
        .showDetail: .shows("[3 Detail]"), .showEvents: .shows("[4 Events]"), .leave: .shows("? help  q back"),
        .nextPane: .shows("[3 Detail]"), .previousPane: .shows("[2 Talk]", "? help  q back"),
        .lineEnding: .shows("ends with LF"), .inputMode: .shows("escapes (Alt-t)"), .pace: .shows("Enter", "Esc"),
        .template: .shows("there are no templates"),
        .chord: KeyCase(before: ["type abc"], behind: ["C-e"], shows: ["ended with status 3"]),
        .cycleView: .shows("hex+text"), .answer: .shows("nothing waits"), .pageUp: .shows("not following"),
        .pageDown: KeyCase(before: ["PPage"], hides: ["not following"]),
    ]

    private static let start: [Command: KeyCase] = [
        .accept: KeyCase(before: ["type nowhere"], shows: ["the port is missing"]),
        .complete: KeyCase(before: ["type de"], shows: ["> demo"]), .historyUp: .shows("> example.invalid:1"),
        .historyDown: KeyCase(before: ["Up"], hides: ["> example.invalid:1"]), .interrupt: KeyCase(ends: true),
    ]

    private static let field: [Command: KeyCase] = [
        .accept: KeyCase(before: ["type detail"], shows: ["[3 Detail]"]), .cancel: .hides("Tab completes"),
        .complete: KeyCase(before: ["type clo"], shows: ["\n :close"]),
        .historyUp: KeyCase(before: ["type detail", "Enter", "1", ":"], shows: [" :detail"]),
        .historyDown: KeyCase(before: ["type detail", "Enter", "1", ":", "Up"], hides: [" :detail"]),
    ]

    private static let form: [Command: KeyCase] = [
        .accept: .hides("queue a read"), .cancel: .hides("queue a read"),
        .nextField: KeyCase(behind: ["type 77"], shows: ["819277"]),
        .previousField: KeyCase(behind: ["Space"], shows: ["[x]"]), .toggle: .hides("(*) any"),
    ]

    private static let menu: [Command: KeyCase] = [
        .moveUp: .shows("> t  reset"), .moveDown: .shows("> w  after"), .accept: .shows("closed 1"),
        .cancel: .hides("close #1 "),
    ]

    private static let firstHelp = "Enter            talk with the connection"

    private static let help: [Command: KeyCase] = [
        .moveUp: KeyCase(before: ["j"], shows: [firstHelp]), .moveDown: .hides(firstHelp),
        .moveFirst: KeyCase(before: ["G"], shows: [firstHelp]), .moveLast: .shows("events-lost"),
        .pageUp: KeyCase(before: ["NPage"], shows: [firstHelp]), .pageDown: .hides(firstHelp),
        .filter: .shows("\n help with"), .cancel: .hides("help: connection list"),
    ]
}
