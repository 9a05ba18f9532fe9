import SocketCore

extension Model {
    /// The composer of the selected connection.
    package var composer: Composer { list.selected.map { composer(of: $0) } ?? Composer() }

    mutating func editComposer(_ change: (inout Composer) -> Void) {
        guard let id = list.selected else { return }
        var composer = composer(of: id)
        change(&composer)
        composers[id] = composer
    }

    /// Puts the cursor into the composer of the selected connection, or says why it cannot be there. Only this opens a
    /// composer that injects.
    mutating func startComposing() {
        guard selected != nil else {
            notice = hint(naming("nothing is selected: {connect} connects, {listen} listens"))
            return
        }
        show(.talk)
        if let reason = whyNoSending {
            notice = hint(reason)
        } else {
            isComposing = true
        }
    }

    /// Opens the line in the user's editor.
    mutating func editLine() -> [Effect] {
        list.selected.map { [.edit(.line($0), Array(composer.editor.text.utf8))] } ?? []
    }

    mutating func stepInputMode() -> [Effect] {
        editComposer { $0.mode = $0.mode.next }
        return examineFile()
    }

    mutating func sendLine() -> [Effect] {
        guard let id = injection?.id ?? list.selected else { return [] }
        if let reason = whyNoSending {
            notice = hint(reason)
            return []
        }
        let composer = composer
        switch composer.message {
        case .failure(let failure):
            notice = error("column \(failure.column): \(failure.message)")
            return []
        case .success(let message):
            guard composer.mode == .file ? !composer.editor.isEmpty : !message.isEmpty else {
                notice = hint("there is nothing to send")
                return []
            }
            return send(message, from: composer, to: id)
        }
    }

    /// ^D: on an empty line it ends our stream as in a shell; else it deletes, as readline does.
    mutating func halfCloseOrDelete() -> [Effect] {
        guard composer.editor.isEmpty else {
            editComposer { $0.editor.edit(.delete) }
            return []
        }
        guard let selected, selected.acceptsWrites else { return [] }
        guard injection == nil else {
            notice = hint(naming("the connection belongs to others: {close} closes it"))
            return []
        }
        guard selected.role != .datagram else {
            notice = hint(naming("datagrams have no FIN: {close} closes the socket"))
            return []
        }
        guard selected.ownWebSocket == nil else {
            notice = hint(naming(Self.webSocketCloses))
            return []
        }
        // The cursor stays: what is typed next would turn into commands.
        notice = hint("FIN goes out after the queued writes; reading goes on")
        return [.send(.halfClose(selected.id))]
    }

    /// Whether ^D would send FIN now.
    var canHalfClose: Bool {
        guard let selected, canCompose, injection == nil, composer.editor.isEmpty else { return false }
        return selected.ownWebSocket == nil && selected.role != .datagram
    }

    /// All of it or nothing: half a paste, sent unseen, would be worse than none.
    mutating func pasteIntoComposer(_ text: String) {
        guard text.count <= LineEditor.lengthLimit else {
            notice = error("nothing was pasted: it is longer than the \(LineEditor.lengthLimit) characters of a line")
            return
        }
        editComposer {
            $0.acceptSearch()
            $0.editor.insert(text)
        }
    }
}
