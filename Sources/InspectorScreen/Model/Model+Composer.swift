import InspectorCore
import SocketCore

/// The composer of the selected connection.
extension Model {
    package var composer: Composer { list.selected.map { composers.composer(of: $0, in: shared) } ?? Composer() }

    /// The selected connection as the recipient of a typed line.
    var recipient: Recipient? {
        list.selected.map { composers.recipient($0, isOpening: expected != nil, in: shared) }
    }

    /// Where a line typed here is injected, or `nil` if the selected connection is this user's own.
    package var injection: Injection? { selected.flatMap { composers.injection(into: $0, in: shared) } }

    /// The reason why the line cannot be sent, or `nil` if it can.
    package var whyNoSending: String? {
        if let reason = shared.pastRefusal { return reason }
        if let recipient { return recipient.refusal }
        return expected == nil ? "nothing is selected" : nil
    }

    /// Whether a typed line can be sent. The cursor stays in the composer of a connection that has closed, so that
    /// further typing doesn't turn into commands.
    var canCompose: Bool { whyNoSending == nil }

    /// Whether ^D would send FIN now.
    var canHalfClose: Bool { recipient.map { composers.canHalfClose($0, in: shared) } ?? false }

    mutating func editComposer(_ change: (inout Composer) -> Void) {
        if let id = list.selected { composers.edit(id, in: shared, change) }
    }

    /// Moves the cursor into the composer of the selected connection, or says why that is not possible. Only this opens
    /// a composer that injects.
    mutating func startComposing() {
        guard selected != nil else {
            notice = hint(naming("nothing is selected: {connect} connects, {listen} listens"))
            return
        }
        show(.traffic)
        if let reason = whyNoSending {
            notice = hint(reason)
        } else {
            isComposing = true
        }
    }

    /// Opens the line in the user's editor.
    mutating func editLine() -> [Effect] {
        list.selected.map { [.screen(.edit(.line($0), Array(composer.editor.text.utf8)))] } ?? []
    }

    mutating func stepInputMode() -> [Effect] {
        editComposer { $0.mode = $0.mode.next }
        return examineFile()
    }

    /// Completes the path in file mode. In the other modes moves to the next pane.
    mutating func completePathOrStep() -> [Effect] {
        guard composer.mode == .file else {
            stepPane(1)
            return []
        }
        return [.completePath(composer.editor.text)]
    }

    func examineFile() -> [Effect] { list.selected.map { composers.examine($0, in: shared) } ?? [] }

    mutating func completed(_ matches: PathMatches) -> [Effect] {
        list.selected.map { absorb(composers.complete(matches, on: $0, in: shared)) } ?? []
    }

    mutating func pressInSearch(_ key: Key) -> [Effect]? {
        guard let id = list.selected else { return nil }
        return composers.pressInSearch(key, on: id, in: shared) ? [] : nil
    }

    mutating func pasteIntoComposer(_ text: String) {
        if let id = list.selected { tell(composers.paste(text, on: id, in: shared)) }
    }

    mutating func halfCloseOrDelete() -> [Effect] {
        recipient.map { absorb(composers.halfCloseOrDelete($0, in: shared)) } ?? []
    }

    /// Selects the other direction of a relayed pair, or asks where to send datagrams.
    mutating func changeDirection() {
        guard injection?.hasDirections == true else {
            return ask { dialogs, subject, _ in dialogs.openDestination(subject) }
        }
        editComposer { $0.injectsToClient.toggle() }
    }

    // MARK: Sending

    mutating func sendLine() -> [Effect] {
        guard let recipient else { return [] }
        let effects = absorb(composers.send(to: recipient, in: shared))
        for case .transmit(let transmission) in effects where transmission.isLong { begin(transmission) }
        return effects
    }

    private mutating func begin(_ transmission: Transmission) {
        var progress = TransmissionProgress(transmission)
        if case .file(let path) = transmission.source, let facts = composers.fileFacts, facts.path == path {
            progress.total = facts.size
        }
        progress.began = shared.latest?.time
        shared.transmissions[transmission.socket] = progress
    }

    /// Stops the transmission to the selected connection, or asks how to send the next lines.
    mutating func openPace() -> [Effect] {
        guard let id = list.selected else { return [] }
        let target = injection?.id ?? id
        if shared.transmissions[target] != nil { return [.stopTransmission(target)] }
        dialogs.openPace(id, composer.pace)
        return []
    }

    /// Handles the progress of a transmission.
    mutating func progressed(_ progress: TransmissionProgress) {
        let id = progress.transmission.socket
        guard let former = shared.transmissions[id] else { return }
        shared.transmissions[id] = progress
        shared.transmissions[id]?.began = former.began
        composers.advance(progress)
    }

    /// Handles the end of a transmission: it was completed or stopped, or it failed.
    mutating func transmissionEnded(_ progress: TransmissionProgress, _ ending: TransmissionEnding) {
        let known = shared.transmissions.removeValue(forKey: progress.transmission.socket)
        let time = known?.began.flatMap { began in shared.latest.map { $0.time - began } } ?? .zero
        traffic.note(progress, ending, after: time)
        switch ending {
        case .failed(let sentence): notice = error(sentence)
        case .stopped: notice = hint("stopped \(progress.words)")
        case .done: if known != nil, tab == .traffic { notice = hint(progress.summary(ending, after: time)) }
        }
    }
}
