import InspectorCore
import SocketCore

/// One field of a dialog.
package struct FormField: Hashable, Sendable {
    package enum Name: Hashable, Sendable {
        case address, timeout, firstRead, halfOpen, kind, tag, standing, verdict, extra, hold
        case part(ReadPart)
        case tlsRole, serverName, trust, authority, protocols, certificate, key
        case interval, pieces, gap, low, high
        case path, what
        case when, reply
    }

    package enum Value: Hashable, Sendable {
        case text(LineEditor)
        case toggle(Bool)
        case choice([String], Int)
    }

    package var name: Name
    package var label: String
    package var value: Value
    /// A text shown dim after the field.
    package var hint: String

    package init(_ name: Name, _ label: String, _ value: Value, hint: String = "") {
        self.name = name
        self.label = label
        self.value = value
        self.hint = hint
    }

    /// Whether its text takes the whole row.
    package var isWide: Bool { name == .address || name == .path || name == .when || name == .reply }

    package static func text(_ name: Name, _ label: String, _ text: String, hint: String = "") -> FormField {
        FormField(name, label, .text(LineEditor(text)), hint: hint)
    }
}

/// A dialog with fields.
package struct Form: Equatable, Sendable {
    package enum Purpose: Equatable, Sendable {
        case connect, listen
        case read(SocketID)
        /// Answers an operation that waits for a verdict.
        case answer(SocketID, OperationSnapshot)
        /// Changes the timeout of an operation.
        case timeout(SocketID, OperationSnapshot)
        case watermarks(SocketID)
        /// Secures a connection.
        case tls(SocketID)
        /// Adds an auto-reply rule to the existing ones.
        case reply(SocketID, [ReplyRule])
        /// Sets the pace of a composer's lines.
        case pace(SocketID)
        /// Asks where to save traffic. Has the item at the cursor, and a file name for each choice.
        case save(SocketID, item: UInt64, names: [String])
        /// Saves the traffic of these connections.
        case saveMarked([SocketID])
        /// Sets the destination of a composer's datagrams.
        case destination(SocketID)
    }

    package var purpose: Purpose
    package var fields: [FormField]
    /// The index of the field with the cursor.
    package var focus = 0
    /// The problem with the typed text.
    package var error: String?
    /// Whether rarely used fields are shown.
    package var showsAll = false

    package init(_ purpose: Purpose, _ fields: [FormField]) {
        self.purpose = purpose
        self.fields = fields
    }

    package var title: String {
        switch purpose {
        case .connect: "connect"
        case .listen: "listen"
        case .read(let id): "queue a read on \(id)"
        case .answer(let id, let operation): "\(id) t\(operation.tag) \(operation.kind.words) timed out"
        case .timeout(let id, let operation): "\(id) t\(operation.tag) \(operation.kind.words): timeout"
        case .tls(let id): "secure \(id) with TLS"
        case .watermarks(let id): "watermarks of \(id)'s write queue"
        case .reply(let id, _): "\(id): auto-reply"
        case .save(let id, _, _): "save bytes of \(id)"
        case .saveMarked(let ids): "save the traffic of \(Format.count(ids.count, "connection"))"
        case .pace(let id): "pacing of \(id)"
        case .destination(let id): "where \(id) sends datagrams"
        }
    }

    /// What Enter does.
    var verb: String {
        switch purpose {
        case .connect: "connect"
        case .listen: "listen"
        case .read: "queue it"
        case .tls: "secure"
        case .answer: "answer"
        case .timeout, .watermarks, .pace, .reply, .destination: "set it"
        case .save, .saveMarked: "save"
        }
    }

    package func text(_ name: FormField.Name) -> String {
        for field in fields where field.name == name {
            if case .text(let editor) = field.value { return editor.text }
        }
        return ""
    }

    package func isOn(_ name: FormField.Name) -> Bool {
        for field in fields where field.name == name {
            if case .toggle(let isOn) = field.value { return isOn }
        }
        return false
    }

    package func chosen(_ name: FormField.Name) -> Int {
        for field in fields where field.name == name {
            if case .choice(_, let index) = field.value { return index }
        }
        return 0
    }

    /// The selected kind in a read dialog.
    var readKind: ReadRequest.Kind.Word { .allCases[chosen(.kind)] }

    /// The indices of the shown fields. They depend on the values of other fields.
    package var shown: [Int] {
        fields.indices.filter { index in
            switch (purpose, fields[index].name) {
            case (.connect, .address), (.listen, .address): true
            case (.connect, .serverName), (.connect, .authority), (.connect, .certificate), (.connect, .key),
                (.listen, .certificate), (.listen, .key):
                OpenTarget.Scheme(of: text(.address)) == .tls
            case (.connect, _), (.listen, _): showsAll
            case (.tls, .serverName), (.tls, .trust): chosen(.tlsRole) == 0
            case (.tls, .authority): chosen(.tlsRole) == 0 && chosen(.trust) == 1
            case (.tls, _): true
            case (.read, .part(let part)): readKind.parts.contains(part)
            case (.pace, .gap): !text(.pieces).isEmpty
            case (.answer, .extra): chosen(.verdict) == 0
            case (.read, _), (.answer, _), (.timeout, _), (.watermarks, _), (.pace, _), (.save, _), (.saveMarked, _),
                (.reply, _), (.destination, _):
                true
            }
        }
    }

    /// Moves the cursor to the next or the previous shown field.
    package mutating func move(_ step: Int) {
        let shown = shown
        guard let index = shown.firstIndex(of: focus) else {
            focus = shown.first ?? 0
            return
        }
        focus = shown[(index + step + shown.count) % shown.count]
    }

    /// Handles a key for the field with the cursor. Returns `false` if the key has no effect there.
    package mutating func type(_ key: Key) -> Bool {
        guard fields.indices.contains(focus) else { return false }
        switch fields[focus].value {
        case .text(var editor):
            guard case .character(let character) = key else { return false }
            editor.insert(String(character))
            fields[focus].value = .text(editor)
        case .toggle(let isOn):
            guard key == .character(" ") || key == .left || key == .right else { return false }
            fields[focus].value = .toggle(!isOn)
        case .choice(let options, let index):
            guard let next = Self.choice(key, options, index) else { return false }
            fields[focus].value = .choice(options, next)
            renameSaved(from: index, to: next)
        }
        error = nil
        return true
    }

    /// Edits the text in the field with the cursor. In a field with choices, left and right change the choice.
    mutating func edit(_ edit: LineEditor.Edit) {
        guard fields.indices.contains(focus) else { return }
        if case .text(var editor) = fields[focus].value {
            editor.edit(edit)
            fields[focus].value = .text(editor)
            error = nil
        } else if edit == .left || edit == .right {
            _ = type(edit == .left ? .left : .right)
        }
    }

    /// Adapts the file name to what is saved, unless the user has changed the name.
    private mutating func renameSaved(from former: Int, to next: Int) {
        guard case .save(_, _, let names) = purpose, fields[focus].name == .what, names.indices.contains(former),
            names.indices.contains(next), text(.path) == names[former],
            let path = fields.firstIndex(where: { $0.name == .path })
        else { return }
        fields[path].value = .text(LineEditor(names[next]))
    }

    private static func choice(_ key: Key, _ options: [String], _ index: Int) -> Int? {
        switch key {
        case .left: return (index + options.count - 1) % options.count
        case .right, .character(" "): return (index + 1) % options.count
        case .character(let letter):
            return options.firstIndex { $0.first == letter }
        case .control, .alt, .altEnter, .enter, .tab, .backTab, .escape, .backspace, .delete, .insert, .up, .down,
            .shiftLeft, .shiftRight, .altLeft, .altRight, .home, .end, .pageUp, .pageDown, .function:
            return nil
        }
    }

    /// Inserts pasted text into the field with the cursor, on one line.
    package mutating func paste(_ text: String) {
        guard fields.indices.contains(focus), case .text(var editor) = fields[focus].value else { return }
        editor.insert(text.split(whereSeparator: \.isNewline).joined(separator: " "))
        fields[focus].value = .text(editor)
        error = nil
    }
}
