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

    /// Puts the cursor into the composer of the selected connection, or says why it cannot be there.
    mutating func startComposing() {
        guard let selected else {
            notice = hint(naming("nothing is selected: {connect} connects, {listen} listens"))
            return
        }
        show(.talk)
        if let reason = TalkWords.whyNoWriting(selected) {
            notice = hint(reason)
        } else {
            isComposing = true
        }
    }

    /// Whether what is typed can still be sent. The cursor stays in the composer of a connection that closed, so that
    /// what is being typed does not turn into commands.
    var canCompose: Bool { selected.map { TalkWords.whyNoWriting($0) == nil } ?? (expected != nil) }

    /// Opens the line in the user's editor.
    mutating func editLine() -> [Effect] {
        list.selected.map { [.edit(.line($0), Array(composer.editor.text.utf8))] } ?? []
    }

    mutating func stepInputMode() -> [Effect] {
        editComposer { $0.mode = $0.mode.next }
        return examineFile()
    }

    mutating func sendLine() -> [Effect] {
        guard let id = list.selected else { return [] }
        guard canCompose else {
            notice = hint(selected.flatMap { TalkWords.whyNoWriting($0) } ?? "\(id) is no longer listed")
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
        guard selected.role != .datagram else {
            notice = hint(naming("datagrams have no FIN: {close} closes the socket"))
            return []
        }
        guard selected.ownWebSocket == nil else {
            notice = hint(naming(Self.webSocketCloses))
            return []
        }
        // The cursor stays: what is typed next would turn into commands.
        notice = hint("FIN goes out behind the queued writes; reading goes on")
        return [.send(.halfClose(selected.id))]
    }
}
