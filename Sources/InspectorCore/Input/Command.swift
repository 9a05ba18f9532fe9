/// Everything that a key can ask for. The raw value is the name that help shows and that scripts will use.
package enum Command: String, Hashable, Sendable, CaseIterable {
    case moveUp = "up"
    case moveDown = "down"
    case pageUp = "page-up"
    case pageDown = "page-down"
    case halfPageUp = "half-page-up"
    case halfPageDown = "half-page-down"
    case moveFirst = "first"
    case moveLast = "last"
    case showList = "list"
    case showTalk = "talk"
    case showDetail = "detail"
    case showEvents = "events"
    case nextPane = "next-pane"
    case previousPane = "previous-pane"
    case nextConnection = "next"
    case previousConnection = "previous"
    case open
    case expand
    case jump
    case back
    case search
    case searchNext = "search-next"
    case searchPrevious = "search-previous"
    case filter
    case sortNext = "sort-next"
    case sortReverse = "sort-reverse"
    case follow
    case freeze
    case cycleView = "cycle-view"
    case connect
    case listen
    case read
    case write
    case close
    case answer
    case pause
    case send
    case insertLine = "insert-line"
    case halfClose = "half-close"
    case historyUp = "history-up"
    case historyDown = "history-down"
    case lineEnding = "line-ending"
    case inputMode = "input-mode"
    /// How what is sent goes out.
    case pace
    /// To whom datagrams go.
    case destination
    /// The queued operations of a connection.
    case operations
    case watermarks
    case replies
    case copy
    case save
    case edit
    /// The first key of ^X^E.
    case chord
    case template
    case leave
    case complete
    case accept
    case cancel
    case nextField = "next-field"
    case previousField = "previous-field"
    case toggle
    case help
    case commandLine = "command-line"
    case repaint
    case suspend
    case interrupt
    case quit
}

/// Where a key is pressed: the same key may mean different things in different places.
package enum KeyContext: String, Hashable, Sendable, CaseIterable {
    case start, list, talk, detail, events
    /// The line that is sent to the peer.
    case composer
    /// A filter or search being typed.
    case field
    /// A dialog with fields to fill in.
    case form
    /// A dialog that asks for one letter.
    case menu
    case help

    /// Whether letters are typed here rather than pressed.
    package var isText: Bool {
        switch self {
        case .start, .composer, .field, .form: true
        case .list, .talk, .detail, .events, .menu, .help: false
        }
    }

    /// The heading of this context in the help.
    package var title: String {
        switch self {
        case .start: "start"
        case .list: "connection list"
        case .talk: "traffic"
        case .detail: "detail"
        case .events: "events"
        case .composer: "composer"
        case .field: "text field"
        case .form: "dialog"
        case .menu: "menu"
        case .help: "help"
        }
    }
}

extension Key {
    /// As help and footer write it.
    package var label: String {
        switch self {
        case .character(" "): "Space"
        case .character(let character): String(character)
        case .control(let character): "^" + character.uppercased()
        case .alt(let character): "Alt-\(character)"
        case .altEnter: "Alt-Enter"
        case .enter: "Enter"
        case .tab: "Tab"
        case .backTab: "S-Tab"
        case .escape: "Esc"
        case .backspace: "Backspace"
        case .delete: "Del"
        case .insert: "Ins"
        case .up: "Up"
        case .down: "Down"
        case .left: "Left"
        case .right: "Right"
        case .home: "Home"
        case .end: "End"
        case .pageUp: "PgUp"
        case .pageDown: "PgDn"
        case .function(let number): "F\(number)"
        }
    }
}
