import InspectorCore
import SocketKit

/// What a run without a screen was asked to open, and what came of it.
struct Openings {
    /// The attached programs, or `nil` if none was requested.
    private(set) var programs: [ProgramInfo]?
    /// The program that is run, or `nil` if there is none.
    private(set) var child: ChildState?
    private(set) var refusals: [String] = []
    /// Whether only connections are opened, not listeners.
    private(set) var connects = false
    private var endsByItself = true
    /// The number of requested sockets that were not opened or refused yet. `answered` counts those that were opened.
    private var unanswered = 0
    private var answered = 0
    /// The value of `answered` when the pending snapshot was requested, and for the last one received. A snapshot
    /// requested before a socket was opened may arrive after the news of the socket, and then does not include it.
    private var answeredAtRequest = 0
    private var answeredInLast = 0
    private let filter: String
    /// When the run stops waiting for the ended program's connections.
    private var childEnd: ContinuousClock.Instant?

    /// `filter` chooses among the sockets of the host.
    init(_ opening: [Effect], filter: String = "") {
        self.filter = filter
        for effect in opening {
            switch effect {
            case .startDemo, .showHost: endsByItself = false
            case .attach, .openFile, .capture: programs = []
            case .connect: (connects, unanswered) = (true, unanswered + 1)
            case .run(let request): child = ChildState(name: request.name, via: request.via)
            default: unanswered += 1
            }
        }
    }

    // MARK: News

    mutating func noteRequest() { answeredAtRequest = answered }

    mutating func noteOpened() { (unanswered, answered) = (unanswered - 1, answered + 1) }

    mutating func noteRefusal(_ sentence: String) {
        unanswered -= 1
        refusals.append(sentence)
    }

    /// `patience` is how long the connections of a program that has ended are waited for.
    mutating func absorb(_ answer: Answer, patience: Duration) {
        if answer.snapshot != nil { answeredInLast = answeredAtRequest }
        if let news = answer.programs {
            programs = news.programs
            refusals += news.notices
        }
        if let news = answer.child {
            child = news.state
            if child?.ending != nil, childEnd == nil { childEnd = .now + patience }
        }
    }

    // MARK: What is left

    /// Whether this snapshot shows what was asked for, as far as it will.
    func isSettled(_ snapshot: EngineSnapshot) -> Bool {
        // Other programs' connects are not waited for.
        guard programs == nil else { return true }
        if child != nil { return isChildOver(snapshot) }
        return hasAll && snapshot.sockets.allSatisfy { $0.phase != .resolving && $0.phase != .connecting }
    }

    /// Whether nothing more can happen after this snapshot. `hasAnswered` says that every source has said all.
    func isOver(_ last: EngineSnapshot?, hasAnswered: Bool) -> Bool {
        if let programs {
            // Other programs of the same name may still be attaching.
            return programs.isEmpty ? !refusals.isEmpty && hasAnswered : programs.allSatisfy(\.hasEnded)
        }
        guard let last else { return false }
        if child != nil { return isChildOver(last) }
        return endsByItself && hasAll && last.sockets.allSatisfy { $0.phase == .closed }
    }

    private var hasAll: Bool { unanswered == 0 && answeredInLast == answered }

    /// Whether the run program has ended and its connections have closed or been given up.
    private func isChildOver(_ snapshot: EngineSnapshot) -> Bool {
        guard let childEnd else { return false }
        return snapshot.sockets.allSatisfy { $0.phase == .closed } || .now > childEnd
    }

    // MARK: What failed

    /// Whether a filter leaves none of the host's sockets.
    func matchesNothing(_ last: EngineSnapshot?) -> Bool {
        !filter.isEmpty && refusals.isEmpty && last?.sockets.isEmpty == true
            && programs?.allSatisfy(\.isOutside) == true
    }

    /// Returns the refusals, and the requested connections that failed. Failed connections in the demo are intended.
    /// `partner` is the connection whose failure is reported elsewhere.
    func failures(_ last: EngineSnapshot?, of partner: SocketID?, isOnce: Bool) -> [String] {
        if let programs {
            return refusals + programs.compactMap(\.failure) + (isOnce ? programs.unseen(in: last, filter) : [])
        }
        guard endsByItself, let last else { return refusals }
        if let child, child.wasUnseen || child.ending?.wasStarted == false { return refusals + [child.farewell ?? ""] }
        // A connection that failed at once was refused, and is in the last snapshot too.
        let others = last.failures(of: partner).filter { failure in !refusals.contains { failure.hasSuffix($0) } }
        return refusals + others + (child?.remarks.map { "run: \($0)" } ?? [])
    }
}
