import SocketCore

/// A program that is looked at from outside.
package struct ProgramInfo: Hashable, Sendable {
    /// How it is doing.
    package enum State: Hashable, Sendable {
        /// It tells what happens.
        case live
        /// It has told nothing for so long.
        case silent(Duration)
        /// It tells nothing any more; why, as a sentence. What it told last stays.
        case ended(String)
    }

    /// Its place among the programs that are looked at; see `SocketID.ordinal`.
    package var ordinal: Int
    package var name: String
    package var process: Int
    /// What may be done to it.
    package var rights: InspectionRights
    package var state: State
    /// What it can do besides showing its sockets.
    package var abilities: SourceAbilities
    /// Whether it is this program, whose sockets end with it.
    package var isOurs: Bool
    /// Whether the kernel tells of its sockets, and not the program itself; without a process: those of the whole host.
    package var isOutside = false
    /// What of it could not be seen, in words; `nil`: nothing.
    package var missing: String?
    /// Packets that the kernel lost of a capture; `nil`: it is not a capture.
    package var dropped: UInt64?
    /// Of a file that is being read: how much of it was, in percent.
    package var progress: Int?

    package init(
        ordinal: Int, name: String, process: Int, rights: InspectionRights = .watch, state: State = .live,
        isOurs: Bool = false
    ) {
        self.ordinal = ordinal
        self.isOurs = isOurs
        abilities = isOurs ? [.commands, .sending] : rights >= .control ? .commands : []
        self.name = name
        self.process = process
        self.rights = rights
        self.state = state
    }

    /// A program, or the whole host, as the kernel tells of it.
    package init(outside name: String, process: Int, ordinal: Int, state: State = .live) {
        self.init(ordinal: ordinal, name: name, process: process, state: state)
        (isOutside, abilities) = (true, [])
    }

    /// Whether it is what passes on an interface.
    package var isCapture: Bool { dropped != nil }

    /// Whether it will tell nothing more.
    package var hasEnded: Bool { if case .ended = state { true } else { false } }

    /// `chatd[4242]`. Not sanitized yet.
    package var title: String { process > 0 ? "\(name)[\(process)]" : name }
}

/// What a viewer hears beside snapshots.
package struct ProgramNews: Hashable, Sendable {
    /// The programs that are looked at; none: only this one.
    package var programs: [ProgramInfo]
    /// Why something that was asked for was not done.
    package var notices: [String]

    package init(programs: [ProgramInfo] = [], notices: [String] = []) {
        self.programs = programs
        self.notices = notices
    }
}

extension Model {
    /// Takes what is new of the programs that are looked at.
    mutating func take(_ news: ProgramNews) {
        for program in news.programs {
            guard case .ended(let why) = program.state else { continue }
            let before = shared.programs.first { $0.ordinal == program.ordinal }?.state
            if before != program.state { notice = error("\(program.title): \(why)") }
        }
        shared.programs = news.programs
        if tab == .start, !shared.programs.isEmpty, start.editor.isEmpty, dialogs.open == nil { tab = .list }
        if let sentence = news.notices.last { notice = error(sentence) }
    }

    /// What stands in place of LIVE where no program tells anything; nil: one does.
    package var silence: String? {
        let others = shared.programs.filter { !$0.isOurs }
        guard !others.isEmpty, others.count == shared.programs.count else { return nil }
        var least: Duration?
        for program in others {
            switch program.state {
            case .live: return nil
            case .silent(let time): least = min(least ?? time, time)
            case .ended: break
            }
        }
        return least.map { "SILENT \(Format.duration($0))" } ?? "ENDED"
    }

    /// The program that a session is of, where several are looked at.
    package func program(of id: SocketID) -> ProgramInfo? {
        shared.programs.count > 1 ? shared.programs.first { $0.ordinal == id.ordinal } : nil
    }
}
