/// Where a key is pressed. The same key can have different meanings in different contexts.
package enum KeyContext: String, Equatable, Sendable, CaseIterable {
    case start, list
    /// The view of the traffic, which configuration files call `talk`.
    case traffic = "talk"
    case detail, events, output
    /// The line that is sent to the peer.
    case composer
    /// A filter, search or command that is being typed.
    case field
    /// A dialog with fields to fill in.
    case form
    /// A dialog that accepts one letter.
    case menu
    case help
    /// A view that shows the past. These keys take precedence over the view's own.
    case rewound

    /// The screens where letters are commands.
    package static let views: [KeyContext] = [.list, .traffic, .detail, .events, .output]

    /// The screens that show one connection, or have the cursor on one.
    package static let connections: [KeyContext] = [.list, .traffic, .detail]

    /// Whether letters are typed as text instead of run as commands.
    package var isText: Bool {
        switch self {
        case .start, .composer, .field, .form: true
        case .list, .traffic, .detail, .events, .output, .menu, .help, .rewound: false
        }
    }

    /// The heading of this context in the help.
    package var title: String {
        switch self {
        case .start: "start"
        case .list: "connection list"
        case .traffic: "traffic"
        case .detail: "detail"
        case .events: "events"
        case .output: "output"
        case .composer: "composer"
        case .field: "text field"
        case .form: "dialog"
        case .menu: "menu"
        case .help: "help"
        case .rewound: "rewound"
        }
    }
}
