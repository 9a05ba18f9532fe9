import SocketCore

/// An inspected program.
package struct ProgramInfo: Equatable, Sendable {
    /// The state of the inspection.
    package enum State: Equatable, Sendable {
        /// The program sends updates.
        case live
        /// The program has sent nothing for this long.
        case silent(Duration)
        /// No more updates will arrive. The value is the reason, as a sentence. The last state is kept.
        case ended(String)
        /// Like `ended`, but because of a failure, which a run without a screen reports.
        case failed(String)
    }

    /// Its position among the inspected programs. See `SocketID.ordinal`.
    package var ordinal: Int
    package var name: String
    package var process: Int
    /// What the viewer may do to it.
    package var rights: InspectionRights
    package var state: State
    /// What it can do in addition to showing its sockets.
    package var abilities: SourceAbilities
    /// Whether it is this program, whose sockets end with it.
    package var isOurs: Bool
    /// Whether its sockets are reported by the kernel instead of the program. Without a process, it is the whole host.
    package var isOutside = false
    /// What could not be seen of it, in words, or `nil` if nothing was hidden.
    package var missing: String?
    /// The number of packets of a capture that the kernel lost, or `nil` if it is not a capture.
    package var dropped: UInt64?
    /// For a file that is being read, the percentage read.
    package var progress: Int?
    /// The hosts that it stands for, if several are looked at.
    package var hosts: [HostStatus] = []

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

    /// Creates the entry of a program, or of the whole host, as reported by the kernel.
    package init(outside name: String, process: Int, ordinal: Int, state: State = .live) {
        self.init(ordinal: ordinal, name: name, process: process, state: state)
        (isOutside, abilities) = (true, [])
    }

    /// Whether it is a live capture.
    package var isCapture: Bool { dropped != nil }

    /// Whether no more updates will arrive.
    package var hasEnded: Bool { ending != nil }

    /// Why no more updates will arrive, or `nil` while they may.
    package var ending: String? {
        switch state {
        case .live, .silent: nil
        case .ended(let why), .failed(let why): why
        }
    }

    /// The failure that ended it, as a sentence, or `nil` if there is none.
    package var failure: String? { if case .failed(let why) = state { "\(title): \(why)" } else { nil } }

    /// `chatd[4242]`. Not sanitized yet.
    package var title: String { process > 0 ? "\(name)[\(process)]" : name }
}

/// What a viewer receives in addition to snapshots.
package struct ProgramNews: Equatable, Sendable {
    /// The inspected programs. If empty, only this one is.
    package var programs: [ProgramInfo]
    /// The reasons why requests were not carried out.
    package var notices: [String]

    package init(programs: [ProgramInfo] = [], notices: [String] = []) {
        self.programs = programs
        self.notices = notices
    }
}
