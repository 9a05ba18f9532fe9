import InspectorCore
import SocketCore

/// Keys that act on the line.
extension ComposerState {
    /// Handles a key while the history is searched. Returns whether it was used. If not, the key has its usual meaning,
    /// and the search ends with the line that was found.
    mutating func pressInSearch(_ key: Key, on id: SocketID, in shared: Shared) -> Bool {
        guard composer(of: id, in: shared).search != nil else { return false }
        var isTaken = true
        edit(id, in: shared) { composer in
            switch shared.options.keys.binding(for: key, in: .composer)?.action?.name {
            case "history-search": composer.searchHistory()
            case "backspace": composer.shortenSearch()
            case "send": composer.acceptSearch()
            case "leave": composer.cancelSearch()
            case let action:
                if action == nil, case .character(let character) = key {
                    composer.extendSearch(by: character)
                } else {
                    composer.acceptSearch()
                    isTaken = false
                }
            }
        }
        return isTaken
    }

    /// Inserts all of the text or nothing. Sending half a paste unnoticed would be worse than sending none.
    mutating func paste(_ text: String, on id: SocketID, in shared: Shared) -> Model.Notice? {
        guard text.count <= LineEditor.lengthLimit else {
            return .error("nothing was pasted: it is longer than the \(LineEditor.lengthLimit) characters of a line")
        }
        edit(id, in: shared) {
            $0.acceptSearch()
            $0.editor.insert(text)
        }
        return Self.doublesLineEnds(text)
            ? .hint("line endings are doubled; tmux pastes CRLF correctly with paste-buffer -pr") : nil
    }

    /// Whether every line ending is doubled, as `tmux paste-buffer -p` does with CRLF. This can't be distinguished from
    /// blank lines, so the text is kept as it is.
    private static func doublesLineEnds(_ text: String) -> Bool {
        let runs = text.split { $0 != "\n" }
        return runs.count > 1 && runs.allSatisfy { $0.count.isMultiple(of: 2) }
    }

    /// Handles ^D. On an empty line it ends our stream as in a shell. Otherwise it deletes, as in readline.
    mutating func halfCloseOrDelete(_ recipient: Recipient, in shared: Shared) -> Outcome {
        guard composer(of: recipient.id, in: shared).editor.isEmpty else {
            edit(recipient.id, in: shared) { $0.editor.edit(.delete) }
            return Outcome()
        }
        guard let socket = recipient.socket, socket.acceptsWrites else { return Outcome() }
        let keys = shared.options.keys
        guard recipient.injection == nil else {
            return .hint(keys.naming("this connection was not opened here: {close} closes it", in: .composer))
        }
        guard socket.role != .datagram else {
            return .hint(keys.naming("datagrams have no FIN: {close} closes the socket", in: .composer))
        }
        guard socket.ownWebSocket == nil else {
            return .hint(keys.naming(Model.webSocketCloses, in: .composer))
        }
        // The cursor stays, because further typing would turn into commands.
        return Outcome(
            effects: [.send(.halfClose(socket.id))],
            notice: .hint("FIN follows the queued writes; reading continues"))
    }

    /// Whether ^D would send FIN now.
    func canHalfClose(_ recipient: Recipient, in shared: Shared) -> Bool {
        guard let socket = recipient.socket, recipient.refusal == nil, recipient.injection == nil else { return false }
        return composer(of: recipient.id, in: shared).editor.isEmpty && socket.ownWebSocket == nil
            && socket.role != .datagram
    }

    // MARK: Files

    /// In file mode, looks up the path, so that the size is shown before the file is sent.
    func examine(_ id: SocketID, in shared: Shared) -> [Effect] {
        let composer = composer(of: id, in: shared)
        guard composer.mode == .file, !composer.editor.isEmpty, fileFacts?.path != composer.editor.text else {
            return []
        }
        return [.examine(composer.editor.text)]
    }

    /// Applies the paths that start with the typed text.
    mutating func complete(_ matches: PathMatches, on id: SocketID, in shared: Shared) -> Outcome {
        let composer = composer(of: id, in: shared)
        guard composer.mode == .file, composer.editor.text == matches.typed else { return Outcome() }
        guard !matches.paths.isEmpty else {
            return .hint(matches.problem ?? "no path begins with \(matches.typed)")
        }
        let common = matches.common
        var outcome = Outcome()
        if common != matches.typed {
            edit(id, in: shared) { $0.editor.set(common) }
        } else if matches.paths.count > 1 {
            let names = matches.names
            let more = names.count > 12 ? "  +\(names.count - 12)" : ""
            outcome.notice = .hint(names.prefix(12).joined(separator: "  ") + more)
        }
        outcome.effects = examine(id, in: shared)
        return outcome
    }
}
