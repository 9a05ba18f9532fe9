import SocketCore

/// What keys do to the line.
extension ComposerState {
    /// A key while the history is searched. Returns whether it was taken; else it means what it always means, and the
    /// search ends with the line that was found.
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

    /// All of it or nothing: half a paste, sent unseen, would be worse than none.
    mutating func paste(_ text: String, on id: SocketID, in shared: Shared) -> Model.Notice? {
        guard text.count <= LineEditor.lengthLimit else {
            return .error("nothing was pasted: it is longer than the \(LineEditor.lengthLimit) characters of a line")
        }
        edit(id, in: shared) {
            $0.acceptSearch()
            $0.editor.insert(text)
        }
        return Self.doublesLineEnds(text)
            ? .hint("every line end is there twice; tmux pastes CRLF right with paste-buffer -pr") : nil
    }

    /// Whether every line end is there twice, as `tmux paste-buffer -p` makes of CRLF. Nobody can tell that from blank
    /// lines, so it stays as it is.
    private static func doublesLineEnds(_ text: String) -> Bool {
        let runs = text.split { $0 != "\n" }
        return runs.count > 1 && runs.allSatisfy { $0.count.isMultiple(of: 2) }
    }

    /// ^D: on an empty line it ends our stream as in a shell; else it deletes, as readline does.
    mutating func halfCloseOrDelete(_ recipient: Recipient, in shared: Shared) -> Outcome {
        guard composer(of: recipient.id, in: shared).editor.isEmpty else {
            edit(recipient.id, in: shared) { $0.editor.edit(.delete) }
            return Outcome()
        }
        guard let socket = recipient.socket, socket.acceptsWrites else { return Outcome() }
        let keys = shared.options.keys
        guard recipient.injection == nil else {
            return .hint(keys.naming("the connection belongs to others: {close} closes it", in: .composer))
        }
        guard socket.role != .datagram else {
            return .hint(keys.naming("datagrams have no FIN: {close} closes the socket", in: .composer))
        }
        guard socket.ownWebSocket == nil else {
            return .hint(keys.naming(Model.webSocketCloses, in: .composer))
        }
        // The cursor stays: what is typed next would turn into commands.
        return Outcome(
            effects: [.send(.halfClose(socket.id))],
            notice: .hint("FIN goes out after the queued writes; reading goes on"))
    }

    /// Whether ^D would send FIN now.
    func canHalfClose(_ recipient: Recipient, in shared: Shared) -> Bool {
        guard let socket = recipient.socket, recipient.refusal == nil, recipient.injection == nil else { return false }
        return composer(of: recipient.id, in: shared).editor.isEmpty && socket.ownWebSocket == nil
            && socket.role != .datagram
    }

    // MARK: Files

    /// In file mode: finds out what is at the path, so that its size is seen before it is sent.
    func examine(_ id: SocketID, in shared: Shared) -> [Effect] {
        let composer = composer(of: id, in: shared)
        guard composer.mode == .file, !composer.editor.isEmpty, fileFacts?.path != composer.editor.text else {
            return []
        }
        return [.examine(composer.editor.text)]
    }

    /// Takes the paths that begin with what was typed.
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
