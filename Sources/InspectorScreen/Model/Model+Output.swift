import InspectorCore
import SocketCore

/// The program that runs through the relay.
extension Model {
    /// Handles the program's news. Its end is shown at once.
    mutating func absorb(_ news: ChildNews) {
        let hadEnded = shared.child?.ending != nil
        if let note = news.state.note, shared.child?.note == nil { notice = Notice(text: note, isError: true) }
        if let rights = news.state.passed.rights, shared.child?.passed.rights != rights {
            notice = Notice(text: rights, isError: true)
        }
        let isNew = shared.child == nil
        shared.child = news.state
        output.absorb(news)
        if isNew, news.state.hasTerminal {
            show(.output)
            output.isTyping = true
        }
        // A program may run for long before it has a connection.
        if tab == .start, news.state.ending?.wasStarted != false { tab = .list }
        guard !hadEnded, let farewell = news.state.farewell else { return }
        let more = output.text.total > 0 && tab != .output ? naming("; {output} shows its output", in: .list) : ""
        notice = Notice(text: farewell + more, isError: news.state.wasUnseen)
    }

    mutating func showOutput() {
        guard shared.child != nil else {
            notice = hint("no program is running: socktui run -- COMMAND starts one")
            return
        }
        show(.output)
    }

    /// Whether keys go to the running program's terminal.
    var typesToChild: Bool { context == .output && output.isTyping && canTypeToChild }

    var canTypeToChild: Bool { shared.child.map { $0.hasTerminal && $0.isRunning } ?? false }

    /// From now on keys go to the program's terminal.
    mutating func startTyping() {
        guard canTypeToChild else {
            let name = shared.child?.name ?? "the program"
            let isOver = shared.child?.hasTerminal == true
            notice = hint(isOver ? "\(name) is not running" : "\(name) has no terminal: run --tty gives it one")
            return
        }
        output.isTyping = true
        output.follow()
    }

    /// Types a key into the program's terminal, but the one that ends that. Returns `nil` if keys don't go there.
    mutating func typeToChild(_ key: Key) -> [Effect]? {
        guard typesToChild else { return nil }
        guard key != KeyTable.leavesTerminal else {
            output.isTyping = false
            return []
        }
        return typeToChild(key.typed)
    }

    mutating func typeToChild(_ bytes: [UInt8]) -> [Effect] {
        output.follow()
        return bytes.isEmpty ? [] : [.typeToChild(bytes)]
    }

    /// Returns the effect that gives the program's terminal the size of its pane.
    mutating func fitTerminal() -> [Effect] {
        guard shared.child?.hasTerminal == true, shared.child?.ending == nil, !isTooSmall else { return [] }
        let layout = layout(size, .output)
        let wanted = Size(layout.body.width, layout.outputRows)
        guard wanted != output.terminal else { return [] }
        output.terminal = wanted
        return [.resizeChild(columns: wanted.width, rows: wanted.height)]
    }

    mutating func scrollOutput(_ step: Int) {
        let rect = layout.body
        output.scroll(step, width: rect.width, height: layout.outputRows, sanitizer)
    }

    mutating func toggleFollowOutput() {
        let rect = layout.body
        output.toggleFollow(width: rect.width, height: layout.outputRows, sanitizer)
    }

    mutating func signalChild(_ number: Int32) -> [Effect] {
        guard let child = shared.child, child.isRunning else {
            notice = error("signal: \(shared.child.map { "\($0.name) is not running" } ?? "no program is running")")
            return []
        }
        notice = hint("\(SignalWords.name(number)) was sent to \(child.title)")
        return [.signalChild(number)]
    }
}
