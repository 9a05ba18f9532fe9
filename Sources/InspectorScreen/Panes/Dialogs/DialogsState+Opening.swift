import InspectorCore
import SocketCore

/// Dialogs that open, read and close.
extension DialogsState {
    /// The fields of the connect and listen dialogs.
    private static func openFields(
        _ purpose: Form.Purpose, address: String, as before: OpenRequest? = nil, _ keys: KeyTable
    ) -> [FormField] {
        var fields = [
            FormField.text(.address, "Address", address, hint: "host:port  tls://  ws://  udp://  unix:/path")
        ]
        if purpose == .connect {
            fields += [
                .text(.serverName, "Server", "", hint: "its name; empty: the host"),
                .text(.authority, "Authority", "", hint: "PEM file, or folder/; empty: the system's"),
            ]
        }
        fields += [
            .text(.certificate, "Certificate", "", hint: "our PEM file"),
            .text(.key, "Key", "", hint: "PEM file; empty: the same"),
        ]
        if purpose == .connect { fields.append(.text(.timeout, "Timeout", "", hint: "such as 10s, or empty")) }
        fields += [
            FormField(
                .firstRead, "Read", .toggle(before?.standingRead ?? true), hint: "keep reading whatever arrives"),
            FormField(
                .halfOpen, "Half open", .toggle(before?.allowsHalfOpen ?? false),
                hint: "keep writing after the peer's FIN"),
        ]
        if purpose == .listen {
            fields.append(
                FormField(
                    .hold, "Hold", .toggle(before?.holdsConnections ?? false),
                    hint: keys.naming("hold connections: {answer} accepts or refuses")))
        }
        return fields
    }

    /// Opens the connect dialog. On a closed connection it offers the same address again.
    mutating func openConnectForm(_ subject: Subject, in shared: Shared) -> Model.Notice? {
        let isClosed = subject.socket?.role == .client && subject.socket?.isLive == false
        let again = subject.tab != .list && isClosed
        // Keeps the previous choices: a user who turned off reads on purpose probably wants the same again.
        let address = again ? subject.socket?.target ?? "" : ""
        let fields = Self.openFields(.connect, address: address, as: lastOpened, shared.options.keys)
        open = .form(Form(.connect, fields))
        return nil
    }

    mutating func openListenForm(in shared: Shared) -> Model.Notice? {
        open = .form(Form(.listen, Self.openFields(.listen, address: "", shared.options.keys)))
        return nil
    }

    /// Asks what to read next.
    mutating func openReadForm(_ subject: Subject, in shared: Shared) -> Model.Notice? {
        guard let selected = subject.socket, selected.isLive, selected.role != .listener else {
            return .hint("reads can be queued only on live connections")
        }
        guard selected.ownWebSocket == nil else {
            return .hint(shared.options.keys.naming(Model.webSocketReads))
        }
        guard selected.acceptsReads else { return .hint("it is closing: no more reads can be queued") }
        let tag = FormField.text(.tag, "Tag", String(subject.composer.nextTag))
        let kind = FormField(.kind, "Kind", .choice(ReadRequest.Kind.Word.allCases.map(\.rawValue), 0))
        let fields: [FormField] =
            if selected.role == .datagram {
                [FormField(.standing, "All", .toggle(true), hint: "off: only the next datagram"), tag]
            } else {
                [kind] + ReadPart.allCases.map(FormField.part) + [
                    .text(.timeout, "Timeout", "", hint: "such as 30s, or empty"), tag,
                    FormField(.standing, "Standing", .toggle(false), hint: "keeps reading"),
                ]
            }
        open = .form(Form(.read(selected.id), fields))
        return nil
    }

    /// Asks how to close the selected connection.
    mutating func openCloseMenu(_ subject: Subject) -> Model.Notice? {
        guard let selected = subject.socket, selected.isLive else {
            return .hint(subject.isSelected ? "it is already closed" : "nothing is selected")
        }
        let id = selected.id
        func item(_ mode: CloseMode) -> Menu.Item {
            Menu.Item(key: mode.words.key, label: mode.words.label, choice: .close(id, mode))
        }
        let halfClose = Menu.Item(key: "h", label: "half-close: send FIN, keep reading", choice: .halfClose(id))
        let isStream = selected.role != .datagram
        var items: [Menu.Item]
        if selected.ownWebSocket != nil {
            items = [
                Menu.Item(key: "c", label: "with Close 1000, after queued messages", choice: .sayClose(id)),
                Menu.Item(key: CloseMode.now.words.key, label: "now, without a Close", choice: .close(id, .now)),
                item(.reset),
            ]
        } else if selected.role == .listener {
            items = [item(.now)]
        } else {
            items = CloseWords.order.compactMap { mode in
                switch mode {
                case nil: isStream && selected.acceptsWrites ? halfClose : nil
                case .reset: isStream ? item(.reset) : nil
                case .some(let mode): item(mode)
                }
            }
        }
        open = .menu(Menu(title: "close \(id) \(selected.peerText)", items: items))
        return nil
    }
}

extension FormField {
    /// Returns the field for a part of a read's kind.
    fileprivate static func part(_ part: ReadPart) -> FormField {
        let field = part.field
        let value: Value =
            switch part.choices.count {
            case 0: .text(LineEditor(field.value))
            case 1: .toggle(false)
            default: .choice(part.choices, part.choices.firstIndex(of: field.value) ?? 0)
            }
        return FormField(.part(part), field.label, value, hint: field.hint)
    }
}
