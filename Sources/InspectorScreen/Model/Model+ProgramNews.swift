import InspectorCore
import SocketCore

extension Model {
    /// Handles the news of the inspected programs.
    mutating func absorb(_ news: ProgramNews) {
        let endedBefore = hasEnded
        // Sums and rows may be older than the last snapshot, and no other snapshot may follow.
        defer { if hasEnded, !endedBefore { refreshAtEnd() } }
        for program in news.programs {
            guard let why = program.ending else { continue }
            let before = shared.programs.first { $0.ordinal == program.ordinal }?.state
            if before != program.state { notice = error("\(program.title): \(why)") }
        }
        shared.programs = news.programs
        if tab == .start, !shared.programs.isEmpty, start.editor.isEmpty, dialogs.open == nil { tab = .list }
        if let sentence = news.notices.last { notice = error(sentence) }
    }

    /// The text that replaces LIVE if no program sends updates, or `nil` if one does.
    package var silence: String? {
        let others = shared.programs.filter { !$0.isOurs }
        guard !others.isEmpty, others.count == shared.programs.count else { return nil }
        var least: Duration?
        for program in others {
            switch program.state {
            case .live: return nil
            case .silent(let time): least = min(least ?? time, time)
            case .ended, .failed: break
            }
        }
        return least.map { "SILENT \(Format.duration($0))" } ?? "ENDED"
    }

    /// Whether everything that is shown is from programs or files that have ended.
    package var hasEnded: Bool { !shared.programs.isEmpty && shared.programs.allSatisfy(\.hasEnded) }

    /// Whether the program of a session has ended, or its file is read to the end.
    package func hasEnded(_ id: SocketID) -> Bool {
        shared.programs.first { $0.ordinal == id.ordinal }?.hasEnded ?? false
    }

    /// Returns the program of a session, if several programs are inspected.
    package func program(of id: SocketID) -> ProgramInfo? {
        shared.programs.count > 1 ? shared.programs.first { $0.ordinal == id.ordinal } : nil
    }
}
