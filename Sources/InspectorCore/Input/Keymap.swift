/// One row of the key table.
package struct Binding: Hashable, Sendable {
    package var contexts: Set<KeyContext>
    package var keys: [Key]
    package var command: Command
    /// What help says.
    package var help: String
    /// What the footer says; nil: the footer leaves it out.
    package var label: String?
    /// A line with arguments that the key runs in place of the command; nil: the command.
    package var line: String?
}

/// The one table from which dispatch, footer and help are made, so that they cannot differ.
package enum Keymap {
    private static let views: Set<KeyContext> = [.list, .talk, .detail, .events]
    private static let connections: Set<KeyContext> = [.list, .talk, .detail]

    private static func bind(
        _ contexts: Set<KeyContext>, _ keys: [Key], _ command: Command, _ help: String, label: String? = nil
    ) -> Binding {
        Binding(contexts: contexts, keys: keys, command: command, help: help, label: label)
    }

    /// Within a context the first row that has the key wins. The footer shows labels in this order, most useful first.
    package static let bindings: [Binding] = opening + moving + acting + looking + typing + asking + leaving

    private static let opening: [Binding] = [
        bind([.list], [.enter], .open, "talk with the connection", label: "talk"),
        bind([.detail], [.enter], .open, "talk with the connection"),
        bind([.events], [.enter], .jump, "talk with the connection of this event", label: "jump"),
        bind([.talk], [.character("w"), .character("i")], .write, "write: to the composer", label: "write"),
        bind([.talk], [.enter], .expand, "expand or fold the item at the cursor", label: "expand"),
        bind([.list, .detail], [.character("w")], .write, "write: to the composer"),
        bind(
            [.detail], [.character("A")], .answer, "answer a timeout, or who waits", label: "answer"),
        bind([.list, .events], [.character("c")], .connect, "connect to an address", label: "connect"),
        bind([.talk, .detail], [.character("c")], .connect, "connect to an address, or again"),
        bind([.list], [.character("l")], .listen, "listen on an address", label: "listen"),
        bind([.talk, .detail, .events], [.character("l")], .listen, "listen on an address"),
    ]

    private static let moving: [Binding] = [
        bind(views.union([.menu, .help]), [.character("k"), .up, .control("p")], .moveUp, "up one row"),
        bind(views.union([.menu, .help]), [.character("j"), .down, .control("n")], .moveDown, "down one row"),
        bind(views.union([.help]), [.character("g"), .home], .moveFirst, "to the first row"),
        bind(views.union([.help]), [.character("G"), .end], .moveLast, "to the last row; follows again"),
        bind(views.union([.help, .composer]), [.pageUp], .pageUp, "up one page"),
        bind(views.union([.help, .composer]), [.pageDown], .pageDown, "down one page"),
        bind(views, [.control("u")], .halfPageUp, "up half a page"),
        bind(views, [.control("d")], .halfPageDown, "down half a page"),
        bind(views, [.character("1")], .showList, "the list"),
        bind(views, [.character("2")], .showTalk, "the talk: traffic and composer"),
        bind(views, [.character("3")], .showDetail, "the detail: queues, flags, kernel"),
        bind(views, [.character("4")], .showEvents, "the events"),
        bind(views, [.tab], .nextPane, "next pane"),
        bind(views, [.backTab], .previousPane, "previous pane"),
        bind([.talk, .detail], [.character("[")], .previousConnection, "the connection above in the list"),
        bind([.talk, .detail], [.character("]")], .nextConnection, "the connection below in the list"),
    ]

    private static let acting: [Binding] = [
        bind(connections, [.character("r")], .read, "queue a read", label: "read"),
        bind([.detail], [.character("w")], .write, "write: to the composer", label: "write"),
        bind(connections, [.character("x")], .close, "close, at once or later", label: "close"),
        bind(
            [.list, .talk], [.character("A")], .answer, "answer a timeout, or who waits",
            label: "answer"),
        bind(connections, [.character("d")], .operations, "drop an operation, change its timeout"),
        bind(connections, [.character("R")], .replies, "reply by itself: when /re/ send X"),
        bind(connections, [.character("b")], .watermarks, "bounds of the write queue: watermarks"),
    ]

    private static let looking: [Binding] = [
        bind([.list, .events], [.character("f")], .filter, "filter what is listed", label: "filter"),
        bind([.talk], [.character("/")], .search, "search payloads: text, \"Text\", hex:0d0a", label: "find"),
        bind([.events], [.character("/")], .search, "search", label: "find"),
        bind([.talk, .events], [.character("n")], .searchNext, "next match"),
        bind([.talk, .events], [.character("N")], .searchPrevious, "previous match"),
        bind([.talk], [.character("y")], .copy, "copy the item to the clipboard", label: "copy"),
        bind([.talk], [.character("o")], .save, "save bytes to a file, unaltered", label: "save"),
        bind([.talk], [.character("e")], .edit, "the item in $EDITOR; changed: send it"),
        bind(
            connections, [.character("P")], .pause, "pause reading, or a listener's accepting", label: "pause"),
        bind([.list], [.character("s")], .sortNext, "sort by the next column", label: "sort"),
        bind([.list], [.character("S")], .sortReverse, "reverse the order"),
        bind([.talk], [.character("v")], .cycleView, "view as text, hex and text, or escapes", label: "view"),
        bind([.talk, .events], [.character("F")], .follow, "follow what comes in", label: "follow"),
        bind(views, [.character(" ")], .freeze, "freeze the screen; the engine runs on", label: "freeze"),
    ]

    private static let typing: [Binding] = [
        bind([.composer], [.enter], .send, "send the line with its line ending", label: "send"),
        bind([.composer], [.altEnter], .insertLine, "begin another line without sending"),
        bind([.composer], [.up, .control("p")], .historyUp, "earlier line", label: "history"),
        bind([.composer], [.down, .control("n")], .historyDown, "later line"),
        bind(
            [.composer], [.control("d")], .halfClose, "on an empty line: send FIN, go on reading", label: "half-close"),
        bind([.composer], [.alt("1")], .showList, "the list", label: "list"),
        bind([.composer], [.alt("2")], .showTalk, "the traffic"),
        bind([.composer], [.alt("3")], .showDetail, "the detail"),
        bind([.composer], [.alt("4")], .showEvents, "the events"),
        bind([.composer], [.escape], .leave, "leave; the draft is kept", label: "leave"),
        bind([.composer], [.tab], .nextPane, "next pane; the draft is kept"),
        bind([.composer], [.backTab], .previousPane, "previous pane"),
        bind([.composer], [.alt("e")], .lineEnding, "line ending: CRLF, LF, none"),
        bind([.composer], [.alt("t")], .inputMode, "text; escapes and macros; hex; a file"),
        bind([.composer], [.alt("o")], .template, "a template from your file"),
        bind([.composer], [.control("x")], .chord, "^X^E: the line in $EDITOR"),
        bind([.composer], [.alt("r")], .pace, "repeat, or dribble; stop that"),
        bind([.composer], [.alt("d")], .destination, "to whom datagrams go"),
        bind([.composer], [.alt("v")], .cycleView, "view as text, hex and text, or escapes"),
        bind([.composer], [.alt("a")], .answer, "answer what timed out"),
        bind([.start], [.enter], .accept, "open", label: "open"),
        bind([.start], [.tab], .complete, "complete from the lists below", label: "complete"),
        bind([.start, .field], [.up], .historyUp, "earlier line"),
        bind([.start, .field], [.down], .historyDown, "later line"),
        bind([.field], [.tab], .complete, "complete a command"),
        bind([.field], [.enter], .accept, "keep it, do it", label: "keep"),
        bind([.field], [.escape], .cancel, "as it was before", label: "cancel"),
    ]

    private static let asking: [Binding] = [
        bind([.form, .menu], [.enter], .accept, "do it", label: "do it"),
        bind([.form], [.tab, .down], .nextField, "next field", label: "next field"),
        bind([.form], [.backTab, .up], .previousField, "previous field"),
        bind([.form], [.character(" "), .left, .right], .toggle, "choose, in a field with choices"),
        bind([.form, .menu], [.escape], .cancel, "never mind", label: "cancel"),
        bind([.menu], [.character("q")], .cancel, "never mind"),
        bind([.help], [.character("/")], .filter, "show only what holds a word", label: "filter"),
        bind([.help], [.escape, .character("q"), .character("?"), .function(1)], .cancel, "close", label: "close"),
    ]

    private static let leaving: [Binding] = [
        bind(views, [.character("?"), .function(1)], .help, "help"),
        bind(views, [.character(":")], .commandLine, "type a command; Tab completes it", label: "command"),
        bind([.start, .composer], [.alt("x")], .commandLine, "type a command; Tab completes it"),
        bind([.start, .composer, .field, .form, .menu], [.function(1)], .help, "help"),
        bind([.talk, .detail, .events], [.character("q"), .escape], .back, "back to the list"),
        bind([.list], [.escape], .back, "drop the filter"),
        bind([.list], [.character("q")], .quit, "quit; asks when sockets are live"),
        bind(views, [.character("Q")], .quit, "quit; asks when sockets are live"),
        bind(Set(KeyContext.allCases), [.control("c")], .interrupt, "quit; asks when sockets are live"),
        bind(Set(KeyContext.allCases), [.control("l")], .repaint, "paint the screen anew"),
        bind(Set(KeyContext.allCases), [.control("z")], .suspend, "suspend the program"),
    ]
}
