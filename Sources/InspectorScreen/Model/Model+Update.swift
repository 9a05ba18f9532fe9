import InspectorCore
import SocketCore

extension Model {
    /// Handles one message and returns the effects to perform. `moreKeysFollow` is set if the next message is a key, so
    /// that changes to a line need not take effect before the last key.
    package mutating func update(_ message: Message, moreKeysFollow: Bool = false) -> [Effect] {
        if field.typedFilter != nil, !field.isTypedInFilter(message, shared.options.keys) { applyTypedFilter() }
        defer { if field.typedFilter != nil, !moreKeysFollow { applyTypedFilter() } }
        return absorb(message)
    }

    private mutating func absorb(_ message: Message) -> [Effect] {
        let effects: [Effect]
        switch message {
        case .key(let key): effects = press(key)
        case .paste(let text): effects = paste(text)
        case .background: effects = []
        case .resized(let size):
            shared.size = size
            effects = []
        case .answer(let answer): effects = absorb(answer)
        case .time(let now):
            pass(now)
            effects = []
        case .opened(let id, let request): effects = opened(id, request)
        case .refused(let sentence):
            refused(sentence)
            effects = []
        case .start(let offers):
            start.offers = offers
            start.editor.remember(offers.recent.map(\.text).reversed())
            effects = []
        case .command(let line):
            notice = nil
            effects = run(line)
        case .note(let text, let time):
            shared.log.note(text, at: time)
            events.add(from: log.end - 1, in: shared)
            effects = []
        case .mouse(let event): effects = mouse(event)
        case .transmission(let progress):
            progressed(progress)
            effects = []
        case .transmissionEnded(let progress, let ending):
            transmissionEnded(progress, ending)
            effects = []
        case .found(let news):
            found(news)
            effects = []
        case .sentLines, .replies, .templates, .told, .peers, .unread, .dissection, .relays, .examined:
            learn(message)
            effects = []
        case .held(let id, let bytes): effects = editHeld(id, bytes)
        case .edited(.held(let id), let bytes, let wasChanged):
            if !wasChanged { notice = hint("\(id): unchanged, and still held") }
            effects = wasChanged ? [.fault(.release(.edit(bytes), id, nil))] : []
        case .edited(let subject, let bytes, let wasChanged):
            edited(subject, bytes, wasChanged: wasChanged)
            effects = examineFile()
        case .paths(let matches): effects = completed(matches)
        }
        measureWarnings()
        dropUnread()
        keepInSight()
        return allowed(effects) + followDissection() + fitTerminal()
    }

    /// Handles an answer: the snapshot by what its programs are now, and the exit of the running program at last.
    private mutating func absorb(_ answer: Answer) -> [Effect] {
        absorb(answer.recording)
        let wasReading = shared.isReadingFile
        if let news = answer.programs { absorb(news) }
        var effects: [Effect] = []
        if let snapshot = answer.snapshot {
            if begins(with: snapshot) { absorb(snapshot) }
            showFirstInstant()
            effects = noteHeld(snapshot)
        }
        if let news = answer.child { absorb(news) }
        if wasReading, !shared.isReadingFile { effects += findAgain() }
        return effects
    }

    /// Handles results from the shell.
    private mutating func learn(_ message: Message) {
        switch message {
        case .sentLines(let lines): composers.sentLines = lines
        case .replies(let id, let rules): shared.replies[id] = rules.isEmpty ? nil : rules
        case .templates(let found, let path, let problem):
            dialogs.templates = found
            dialogs.templateSource = (path, problem)
        case .told(let sentence): notice = hint(sentence)
        case .relays(let listener): relays(listener)
        case .examined(let facts): composers.fileFacts = facts
        case .peers(let peers): shared.peers = peers
        case .unread(let look): absorb(look)
        case .dissection(let news): dissection.absorb(news)
        default: break
        }
    }

    private mutating func press(_ key: Key) -> [Effect] {
        list.keyPressed = shared.latest?.time
        guard !isTooSmall || key == KeyTable.fixed else { return pressWhenTooSmall(key) }
        notice = nil
        let context = context
        if let effects = pressBeforeTable(key, in: context) { return effects }
        let place =
            overlay(context).flatMap { shared.options.keys.binding(for: key, in: $0) == nil ? nil : $0 } ?? context
        guard let binding = shared.options.keys.binding(for: key, in: place) else { return type(key) }
        if let use = binding.action?.use(boundIn: place) { return use.perform(&self, key) }
        return binding.line.isEmpty ? [] : run(binding.line)
    }

    /// Handles the letter of a menu item, or the second key of ^X^E. Returns `nil` if the key is neither.
    private mutating func pressBeforeTable(_ key: Key, in context: KeyContext) -> [Effect]? {
        let isSecond = composers.awaitsChord
        composers.awaitsChord = false
        switch context {
        case .composer: return isSecond && key == .control("e") ? editLine() : pressInSearch(key)
        case .menu: return pressLetter(key)
        case .output: return isTooSmall ? nil : typeToChild(key)
        case .start, .list, .traffic, .detail, .events, .field, .form, .help, .rewound: return nil
        }
    }

    /// Handles a key without an action. It is text if a line is being typed.
    private mutating func type(_ key: Key) -> [Effect] {
        if context == .form { dialogs.editForm { _ = $0.type(key) } }
        guard case .character(let character) = key else { return [] }
        return changeLine { $0.insert(String(character)) }
    }

    /// Edits the line that has the cursor.
    mutating func edit(_ edit: LineEditor.Edit) -> [Effect] {
        if context == .form { dialogs.editForm { $0.edit(edit) } }
        let effects = changeLine { $0.edit(edit) }
        if context == .composer, edit == .older || edit == .newer { editComposer { $0.recalled() } }
        return effects
    }

    /// Changes the line that has the cursor, unless it is a dialog's.
    private mutating func changeLine(_ change: (inout LineEditor) -> Void) -> [Effect] {
        switch context {
        case .start: start.change(change)
        case .field: typeInField(change)
        case .composer:
            editComposer { change(&$0.editor) }
            return examineFile()
        case .list, .traffic, .detail, .events, .output, .form, .menu, .help, .rewound: break
        }
        return []
    }

    /// On a screen too small to show anything, only quitting works.
    private mutating func pressWhenTooSmall(_ key: Key) -> [Effect] {
        if context == .menu, let effects = pressLetter(key) { return effects }
        let (place, names): (KeyContext, [String])
        switch context {
        case .menu: (place, names) = (.menu, ["up", "down", "accept", "cancel"])
        case .list, .traffic, .detail, .events, .output: (place, names) = (.list, ["quit"])
        case .start, .composer, .field, .form, .help, .rewound: return []
        }
        guard let action = shared.options.keys.binding(for: key, in: place)?.action, names.contains(action.name) else {
            return []
        }
        return action.use(in: place)?.perform(&self, key) ?? []
    }

    /// Quits the program. Asks once while sockets are live.
    mutating func quit() -> [Effect] {
        let shown = shared.latest.map(liveRows) ?? 0
        let live = max(shown, isRewound && shared.hasOwn ? shared.latest?.moment?.livePresent ?? 0 : 0)
        if case .menu(let menu) = dialogs.open, menu.items.contains(where: { $0.choice == .quit }) {
            return [.screen(.quit)]
        }
        let running = shared.child.flatMap { $0.isRunning ? $0.title : nil }
        guard live > 0 || running != nil else { return [.screen(.quit)] }
        dialogs.openQuit(live: live, running: running)
        help = nil
        return []
    }

    /// Returns the number of our own live rows, counted as in the header.
    private func liveRows(_ snapshot: EngineSnapshot) -> Int {
        var ours = snapshot
        ours.sockets = snapshot.sockets.filter { shared.isOurs($0.id) }
        return SnapshotSummary(ours, joinsPairs: !list.showsLegs).live
    }

    private mutating func refused(_ sentence: String) {
        // What the command line named can't be opened, and nothing else is.
        let hasNothing = shared.programs.isEmpty && shared.latest?.sockets.isEmpty != false
        if tab == .list, shared.options.isOpening, hasNothing { tab = .start }
        if tab == .start {
            start.error = sentence
            start.choice = nil
        } else {
            notice = Notice(text: sentence, isError: true)
        }
    }

    func error(_ text: String) -> Notice { Notice(text: text, isError: true) }
    func hint(_ text: String) -> Notice { Notice(text: text, isError: false) }

    /// Inserts pasted text into the field that has the cursor. Anywhere else it would be read as commands.
    private mutating func paste(_ text: String) -> [Effect] {
        switch context {
        case .start: start.change { $0.insert(text.split(whereSeparator: \.isNewline).joined(separator: " ")) }
        case .composer: pasteIntoComposer(text)
        case .field: typeInField { $0.insert(text.split(whereSeparator: \.isNewline).joined(separator: " ")) }
        case .form: dialogs.editForm { $0.paste(text) }
        case .traffic where selected?.acceptsWrites == true && injection == nil:
            isComposing = true
            pasteIntoComposer(text)
        case .output where typesToChild:
            return typeToChild(Array(text.map { $0.isNewline ? "\r" : String($0) }.joined().utf8))
        case .list, .traffic, .detail, .events, .output: ask { $0.openPaste(text, $1, in: $2) }
        case .menu, .help, .rewound: notice = hint("nothing was pasted: there is no input line here")
        }
        return []
    }

    /// Inserts pasted text into the line of the selected connection.
    mutating func absorbPaste(_ text: String) {
        startComposing()
        if isComposing { pasteIntoComposer(text) }
    }
}
