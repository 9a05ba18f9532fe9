import InspectorCore
import SocketWorkshop
import SocketCore

/// The contents of the help, generated from the tables of keys and commands. Nothing is listed twice.
package struct HelpContents {
    /// One entry of the help. It takes several rows if it does not fit.
    package struct Entry: Equatable, Sendable {
        /// The keys, or the name.
        package var lead: String
        package var text: String
        /// The command's name, which is shown after the text.
        package var name = ""
        /// What Enter does.
        package var does: Deed = .nothing
        /// The word in the hint line.
        package var hint = ""
    }

    package enum Deed: Equatable, Sendable {
        case nothing
        /// Runs a line as typed after `:`.
        case run(String)
        /// Starts a command line, because the command needs arguments.
        case type(String)
    }

    package struct Section: Equatable, Sendable {
        package var title: String
        package var entries: [Entry]
    }

    package private(set) var sections: [Section] = []

    /// The keys of the help's context come first, then those that only other contexts have. A filter leaves the entries
    /// that contain it.
    package init(_ model: Model, _ help: HelpState) {
        let keys = model.shared.options.keys
        var told: Set<Binding> = []
        func tell(_ context: KeyContext, edits: Bool = false, _ title: String) {
            let rows = keys.bindings(in: context).filter { Action.edits.contains($0.line) == edits }
            let more = rows.filter { told.insert($0).inserted }
            add(
                title + (more.count < rows.count ? ", in addition to the above" : ""),
                more.map { Self.entry($0, in: context, model) })
        }
        tell(help.context, "")
        if help.context.isText { tell(help.context, edits: true, "editing a line") }
        let others: [KeyContext] = [.rewound, .list, .traffic, .composer, .detail, .events]
        for other in others where other != help.context { tell(other, other.title) }
        add("commands after :, in scripts, and bound to keys", commands)
        add("marks", marks(model))
        add("filter", Self.filter.map { Entry(lead: "", text: $0) })
        add(
            "faults: [CONDITION...] [upstream|downstream] EFFECT",
            Self.faults(.condition, .direction, .effect, .datagrams))
        add("points of a breakpoint", Self.faults(.point))
        add("warnings", Lint.all.map { Entry(lead: $0.name, text: $0.meaning) })
        let wanted = help.filter.lowercased()
        guard !wanted.isEmpty else { return }
        sections = sections.compactMap { section in
            let entries = section.entries.filter {
                "\($0.lead) \($0.text) \($0.name) \($0.hint)".lowercased().contains(wanted)
            }
            return entries.isEmpty ? nil : Section(title: section.title, entries: entries)
        }
    }

    /// All entries, in the order of the cursor.
    package var entries: [Entry] { sections.flatMap(\.entries) }

    private mutating func add(_ title: String, _ entries: [Entry]) {
        if !entries.isEmpty { sections.append(Section(title: title, entries: entries)) }
    }

    private static func entry(_ binding: Binding, in context: KeyContext, _ model: Model) -> Entry {
        let use = binding.action?.use(in: context)
        return Entry(
            lead: binding.keys.map(\.label).joined(separator: " "), text: binding.help,
            name: binding.action?.name ?? "", does: .run(binding.line), hint: use?.label ?? use?.hint(model) ?? "")
    }

    private var commands: [Entry] {
        [Entry(lead: "", text: "Every name on the right is a command, too. With arguments:")]
            + Action.commands.compactMap { action in
                action.syntax.map {
                    Entry(
                        lead: action.name, text: $0.usage.isEmpty ? $0.help : "\($0.usage): \($0.help)",
                        does: .type(action.name + " "))
                }
            }
            + [Entry(lead: "TLS", text: "after tls:// addresses: \(TLSChoices.usage)")]
    }

    private static func faults(_ parts: FaultWord.Part...) -> [Entry] {
        FaultWord.all.filter { parts.contains($0.part) }.map { Entry(lead: $0.name, text: "\($0.usage): \($0.help)") }
    }

    private func marks(_ model: Model) -> [Entry] {
        [
            "> client  < accepted  = listener  x closed  ASK awaits an answer (\(model.answerKey))",
            "READING 1024/4096: done/total; 312 to CRLF: done, total unknown",
            "WRITING 25% +2 1.4M: done, writes queued after it, bytes not yet in the kernel",
            model.naming("unread 23 B: bytes in the kernel, no read queued; {read} queues one"),
            "C>S/s, S>C/s: what the client and the server of a relay or a capture send",
            "\(model.glyphs.sigma)8.1K: all bytes of a closed connection.  Times are UTC.", "* marked  !2 two warnings",
        ].map { Entry(lead: "", text: $0) }
    }

    /// The syntax of filters, line by line.
    package static let filter = [
        "words are AND, | is OR, ! is NOT, ( ) group; /text/i: a regular expression",
        "id:7 state:estab peer:10.0.0.0/8 port:443 role:client tag:42 read:delimiter",
        "flag:connected lint:any lint:read-starved rq>0 wq>=64K rx>1M idle>9s age>1h",
        "sendq>0 rtt>5ms unsent>1M alpn:h2 container:web: any column, by its name",
        "tls:yes tls:no tls:handshaking tls:1.3 (or queued, asking, secure, failed)",
        "ws:yes ws:no ws:open ws:compressed ws:1006 (the code of a Close)",
        "ws:opening ws:closing ws:closed ws:refused",
        "fault:any fault:latency (what a rule does to it)  held (by a breakpoint)",
    ]
}
