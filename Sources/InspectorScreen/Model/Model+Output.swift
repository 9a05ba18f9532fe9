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
        shared.child = news.state
        output.absorb(news)
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
