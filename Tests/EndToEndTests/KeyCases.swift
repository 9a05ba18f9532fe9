import InspectorCore
import InspectorScreen

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

    /// What an action must do in a context, or `nil` if no case says.
    static func of(_ action: String, in place: KeyContext) -> KeyCase? {
        own(place)[action] ?? (place.isText ? editing(in: place)[action] : nil)
            ?? (KeyContext.views.contains(place) ? views[action] : nil) ?? everywhere[action]
    }

    private static func editing(in place: KeyContext) -> [String: KeyCase] {
        guard place == .form else { return editing }
        // Its first field has choices, its second one a number.
        var cases = editing.mapValues { edit in
            var edit = edit
            edit.before.insert("Tab", at: 0)
            return edit
        }
        cases["line-start"]?.shows = ["X8192ab cd"]
        return cases
    }

    private static func own(_ place: KeyContext) -> [String: KeyCase] {
        switch place {
        case .start: start
        case .list: list
        case .traffic: traffic
        case .detail: detail
        case .events: events
        case .output: output
        case .composer: composer
        case .field: field
        case .form: form
        case .menu: menu
        case .help: help
        case .rewound: rewound
        }
    }

    private static let everywhere: [String: KeyCase] = [
        "repaint": KeyCase(before: ["scribble"], hides: ["SCRIBBLE"]), "suspend": KeyCase(logs: "suspended for"),
        "interrupt": .shows("quit?"), "help": .shows(" help: "),
        "command-line": .shows("Tab completes  Enter runs it"),
    ]

    private static let views: [String: KeyCase] = [
        "list": .shows("[1 List]"), "talk": .shows("[2 Traffic]"), "detail": .shows("[3 Detail]"),
        "events": .shows("[4 Events]"), "output": .shows("no program is running"),
        "connect": .shows("Enter connect"), "listen": .shows("Enter listen"),
        "read": .shows("queue a read on #1"), "close": .shows("close #1 "), "answer": .shows("nothing here awaits"),
        "write": .shows("Enter send"), "open": .shows("Enter send"), "freeze": .shows("FROZEN"),
        "quit": .shows("quit?"), "back": .shows("[1 List]"), "filter": .shows("\n filter", "Enter apply"),
        "follow": .shows("not following"), "pause": KeyCase(behind: ["4"], shows: ["paused"]),
        "tls": .shows("with TLS"), "replies": .shows("Enter set it"), "operations": .shows("#1"),
        "watermarks": .shows("atermark"), "zoom": .shows("already fills the screen"),
        "pace": .shows("pacing of #1"),
        "rewind": .shows("only an opened file, or a run with"),
        "rewind-far": .shows("only an opened file, or a run with"),
        "event-back": .shows("only an opened file, or a run with"), "at": .shows("only an opened file, or a run with"),
        "other-leg": .shows("only a relayed connection"), "unread": .shows("only for sockets seen"),
        "break": .shows(":break on"), "exchanges": .shows("no request of #1 is kept"),
    ]

    /// A file of a minute with an event every five seconds, in the middle of which this begins.
    private static let rewound: [String: KeyCase] = [
        "play": .shows("Space pause"), "rewind": .shows("REWIND 00:29.000 / 01:00.000 x1"),
        "forward": .shows("REWIND 00:31.000 /"), "rewind-far": .shows("REWIND 00:20.000 /"),
        "forward-far": .shows("REWIND 00:40.000 /"), "event-back": .shows("REWIND 00:25.000 /"),
        "event-on": .shows("REWIND 00:35.000 /"), "slower": .shows("01:00.000 x1/2 "),
        "faster": .shows("01:00.000 x2 "),
        "at": .shows("\n time"), "present": .hides("REWIND"), "interrupt": KeyCase(ends: true),
    ]

    private static let list: [String: KeyCase] = [
        "programs": .shows("only socktui host lists programs"),
        "hosts": .shows("only socktui host @NAME lists hosts"), "zoom": .shows("ZOOM"),
        "up": KeyCase(before: ["j", "j"], selects: 2), "down": KeyCase(selects: 2),
        "first": KeyCase(before: ["j"], selects: 1), "last": KeyCase(selects: 12),
        "page-down": KeyCase(selects: 12), "page-up": KeyCase(before: ["G"], selects: 1),
        "half-page-down": KeyCase(selects: 7), "half-page-up": KeyCase(before: ["G"], selects: 6),
        "next-pane": .shows("[2 Traffic]"), "previous-pane": .shows("[4 Events]"), "sort-next": .shows("sort state"),
        "sort-reverse": KeyCase(before: ["j"], shows: ["sort id v"]), "sort-previous": .shows("sort warnings"),
        "mark": .shows("1*>"), "show-marked": KeyCase(before: ["m"], shows: ["marked (M)"]),
        "columns": .shows("[ ] AGE"), "search": .shows("\n search"), "search-next": .shows("no search"),
        "search-previous": .shows("no search"), "follow": .shows("keeps its row (F)"),
        "mark-all": .shows("marked; x closes them"), "legs": .shows("one row per leg"),
        "act-on-marked": KeyCase(before: ["m"], shows: ["1 marked connection: what to do?"]),
        "back": KeyCase(before: ["f", "type port:1", "Enter"], hides: ["filter port:1"]),
    ]

    /// What a pane does that follows its end.
    private static let following: [String: KeyCase] = [
        "up": .shows("not following"), "down": KeyCase(before: ["k"], hides: ["not following"]),
        "last": KeyCase(before: ["g"], hides: ["not following"]), "page-up": .shows("not following"),
        "page-down": KeyCase(before: ["PPage"], hides: ["not following"]), "half-page-up": .shows("not following"),
        "half-page-down": KeyCase(before: ["C-u"], hides: ["not following"]),
    ]

    private static let traffic: [String: KeyCase] = following.merging([
        "first": .shows("* connected"), "next-pane": .shows("Enter send"), "previous-pane": .shows("[1 List]"),
        "previous": KeyCase(before: ["]"], shows: ["#1 127."]), "next": .shows("#2 127."),
        "search": .shows("\n search"), "search-next": .shows("no search"),
        "search-previous": .shows("no search"), "copy": .shows("clipboard"),
        "save": .shows("save bytes of #1"), "edit": .shows("ended with status 3"),
        "cycle-view": .shows("hex+text (v)"), "expand": KeyCase(before: ["v"], shows: ["(Enter fold)"]),
    ]) { $1 }

    private static let events: [String: KeyCase] = following.merging([
        "first": .shows("socktui        -"), "next-pane": .shows("[1 List]"), "previous-pane": .shows("[3 Detail]"),
        "search": .shows("\n search"), "search-next": .shows("no search"),
        "search-previous": .shows("no search"), "jump": .shows("[2 Traffic]"),
    ]) { $1 }

    private static let output: [String: KeyCase] = following.merging([
        "first": .shows("\n1\n2\n3\n"), "next-pane": .shows("[1 List]"), "previous-pane": .shows("[4 Events]"),
        "output": .shows("[5 Output]"), "type": .shows("has no terminal"),
    ]) { $1 }

    /// Once at its end, it stays there while rows are added to it; so the way back may take a second stroke.
    private static let detail: [String: KeyCase] = [
        "cycle-view": KeyCase(behind: ["2"], shows: ["hex+text (v)"]),
        "up": KeyCase(before: ["j"], shows: ["#1 client"]), "down": .hides("#1 client"),
        "first": KeyCase(before: ["G"], shows: ["#1 client"]), "last": .shows("last bytes"),
        "page-down": .hides("#1 client"),
        "page-up": KeyCase(before: ["NPage"], behind: ["PPage"], shows: ["#1 client"]),
        "half-page-down": .hides("#1 client"),
        "half-page-up": KeyCase(before: ["C-d"], behind: ["C-u"], shows: ["#1 client"]),
        "next-pane": .shows("[4 Events]"), "previous-pane": .shows("Enter send"),
        "previous": KeyCase(before: ["]"], shows: ["#1 client"]), "next": .shows("#2 client"),
    ]

    private static let composer: [String: KeyCase] = [
        "destination": .shows("a stream has one peer"),
        "rewind": .shows("only an opened file, or a run with"), "forward": .shows("only an opened file, or a run with"),
        "send": KeyCase(before: ["type abc"], shows: ["write 5 B"]),
        "insert-line": KeyCase(before: ["type a"], shows: ["= 3 bytes"]),
        "history-up": KeyCase(before: ["type abc", "Enter"], shows: ["= 3 bytes"]),
        "history-down": KeyCase(before: ["type abc", "Enter", "Up"], hides: ["= 3 bytes"]),
        "history-search": KeyCase(
            before: ["type abc", "Enter"], behind: ["type b"], shows: ["earlier line with \"b\"", ">abc"]),
        "half-close": .shows("we sent FIN, still reading"), "list": .shows("[1 List]"),
        "talk": .shows("? help  q back"),
        "detail": .shows("[3 Detail]"), "events": .shows("[4 Events]"), "leave": .shows("? help  q back"),
        "output": .shows("no program is running"),
        "next-pane": .shows("[3 Detail]"), "previous-pane": .shows("[2 Traffic]", "? help  q back"),
        "line-ending": .shows("ends with LF"), "input-mode": .shows("escapes (Alt-t)"), "pace": .shows("Enter", "Esc"),
        "template": .shows("there are no templates"),
        "chord": KeyCase(before: ["type abc"], behind: ["C-e"], shows: ["ended with status 3"]),
        "zoom": .shows("already fills the screen"),
        "cycle-view": .shows("hex+text"), "answer": .shows("nothing here awaits"), "page-up": .shows("not following"),
        "page-down": KeyCase(before: ["PPage"], hides: ["not following"]),
    ]

    /// A line that is edited, and where the next letter goes.
    private static let editing: [String: KeyCase] = [
        "left": KeyCase(before: ["type ab cd"], behind: ["type X"], shows: ["ab cXd"]),
        "right": KeyCase(before: ["type ab cd", "Left", "Left"], behind: ["type X"], shows: ["ab cXd"]),
        "line-start": KeyCase(before: ["type ab cd"], behind: ["type X"], shows: ["Xab cd"]),
        "line-end": KeyCase(before: ["type ab cd", "Left"], behind: ["type X"], shows: ["ab cdX"]),
        "word-left": KeyCase(before: ["type ab cd"], behind: ["type X"], shows: ["ab Xcd"]),
        "word-right": KeyCase(before: ["type ab cd", "Home"], behind: ["type X"], shows: ["abX cd"]),
        "backspace": KeyCase(before: ["type ab cd"], behind: ["type X"], shows: ["ab cX"]),
        "delete": KeyCase(before: ["type ab cd", "Left"], behind: ["type X"], shows: ["ab cX"], hides: ["ab cXd"]),
        "cut-to-end": KeyCase(before: ["type ab cd", "Left"], behind: ["type X"], shows: ["ab cX"], hides: ["ab cXd"]),
        "cut-to-start": KeyCase(before: ["type ab cd", "Left"], behind: ["type X"], shows: ["Xd"], hides: ["cXd"]),
        "cut-word": KeyCase(before: ["type ab cd"], behind: ["type X"], shows: ["ab X"]),
        "put-back": KeyCase(before: ["type ab cd", "C-w"], behind: ["type X"], shows: ["ab cdX"]),
    ]

    private static let start: [String: KeyCase] = [
        "accept": KeyCase(before: ["type nowhere"], shows: ["the port is missing"]),
        "complete": KeyCase(before: ["type de"], shows: ["> demo"]), "history-up": .shows("> example.invalid:1"),
        "history-down": KeyCase(before: ["Up"], hides: ["> example.invalid:1"]), "interrupt": KeyCase(ends: true),
        "page-up": KeyCase(before: ["NPage"], hides: ["\n>"]), "page-down": .shows("\n>"),
    ]

    private static let field: [String: KeyCase] = [
        "accept": KeyCase(before: ["type detail"], shows: ["[3 Detail]"]), "cancel": .hides("Tab completes"),
        "complete": KeyCase(before: ["type clo"], shows: ["\n :close"]),
        "history-up": KeyCase(before: ["type detail", "Enter", "1", ":"], shows: [" :detail"]),
        "history-down": KeyCase(before: ["type detail", "Enter", "1", ":", "Up"], hides: [" :detail"]),
    ]

    private static let form: [String: KeyCase] = [
        "accept": .hides("queue a read"), "cancel": .hides("queue a read"),
        "next-field": KeyCase(behind: ["type 77"], shows: ["819277"]),
        "previous-field": KeyCase(behind: ["Space"], shows: ["[x]"]), "toggle": .hides("(*) any"),
    ]

    private static let menu: [String: KeyCase] = [
        "up": .shows("> t  reset"), "down": .shows("> w  after"), "accept": .shows("closed 1"),
        "cancel": .hides("close #1 "),
    ]

    private static let firstHelp = ">Enter            open the connection"

    private static let help: [String: KeyCase] = [
        "up": KeyCase(before: ["j"], shows: [firstHelp]), "down": .hides(firstHelp),
        "first": KeyCase(before: ["G"], shows: [firstHelp]), "last": .shows("events-lost"),
        "page-up": KeyCase(before: ["NPage"], shows: [firstHelp]), "page-down": .hides(firstHelp),
        "filter": .shows("\n help with"), "cancel": .hides("help: connection list"),
        "accept": KeyCase(before: ["j"], shows: ["Enter send"], hides: ["help: connection list"]),
    ]
}
