import SocketCore

/// What a source of sockets can do besides showing them.
package struct SourceAbilities: OptionSet, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// It carries out commands on the sockets that it shows: reads, writes, closes and the like.
    package static let commands = SourceAbilities(rawValue: 1)
    /// It sends files and macros, replies automatically and starts TLS, which takes more than a command.
    package static let sending = SourceAbilities(rawValue: 2)
}

/// Where the sockets on the screen come from: the program's own engine, or a program that it is attached to. What shows
/// them does not know which.
///
/// A source names its sockets as it likes, with ordinal 0; the list of sources tells those of several apart.
/// No call but `rest` and `close` waits.
package protocol SocketSource: AnyObject, Sendable {
    /// Its name and how it is doing, with the ordinal that the list gave it.
    func info(ordinal: Int) -> ProgramInfo
    /// Answers with a snapshot, on any thread: nil when there is none yet, or never will be. Its events are those since the
    /// snapshot before, so each answer must be used.
    func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot?) -> Void)
    /// Whether there is no snapshot yet, but may be one soon.
    var isAwaited: Bool { get }
    /// Whether the last snapshot had all that was requested, as far as it will come.
    var hasAnswered: Bool { get }
    /// Answers with what was kept of the traffic of these sockets, on any thread: nil if only the traffic of the socket
    /// in a snapshot request is known.
    func requestTraffic(of sockets: [SocketID], then: @escaping @Sendable ([SocketID: TrafficSnapshot]?) -> Void)
    /// Answers with bytes of a socket that its program has not read, on any thread: nil where the last look is too short a
    /// time ago, or there is no such socket.
    func requestUnread(_ request: UnreadRequest, then: @escaping @Sendable (UnreadLook?) -> Void)
    /// Carries out a command; later snapshots show what it did.
    func perform(_ command: SocketCommand)
    /// The sentences that the source has for the user since the last call.
    func takeNotices() -> [String]
    /// Releases what it holds of other programs. Called before this program stops or an editor takes the terminal, since
    /// there will be no requests until it returns.
    func rest()
    /// Removes what others could see, such as socket files; this program is about to end.
    func close()
}

extension SocketSource {
    package func requestTraffic(
        of sockets: [SocketID], then: @escaping @Sendable ([SocketID: TrafficSnapshot]?) -> Void
    ) { then(nil) }

    package func requestUnread(_ request: UnreadRequest, then: @escaping @Sendable (UnreadLook?) -> Void) { then(nil) }

    package func rest() {}
}

extension ProgramInfo {
    /// Why this program cannot do what needs these abilities, as a sentence; `nil` if it can.
    package func refusal(needing needs: SourceAbilities) -> String? {
        if needs.isEmpty { return nil }
        if hasEnded { return "\(title) has ended" }
        if isCapture { return "\(title) is captured: what passes there cannot be changed" }
        if isOutside { return "\(title) is looked at from outside: its sockets cannot be changed from here" }
        if !abilities.contains(.commands) { return "\(title) only lets you watch; it needs SOCKETKIT_INSPECT=control" }
        return abilities.isSuperset(of: needs) ? nil : "\(title): this works only for connections opened here"
    }

    /// Why this program cannot do this to one of its sockets, as a sentence; `nil` if it can.
    package func refusal(of effect: Effect) -> String? { refusal(needing: effect.needs) }
}

extension Effect {
    /// What the program of its socket must be able to do.
    fileprivate var needs: SourceAbilities {
        switch self {
        case .send: .commands
        case .startTLS, .setReplies, .transmit: .sending
        default: []
        }
    }

    /// The socket that it is done to; nil: none in particular.
    var socket: SocketID? {
        switch self {
        case .send(let command): command.socket
        case .startTLS(let id, _), .setReplies(let id, _): id
        case .transmit(let transmission): transmission.socket
        case .connect, .listen, .relay, .run, .signalChild, .attach, .showHost, .openFile, .capture, .startDemo,
            .stopTransmission, .examine,
            .completePath,
            .save, .copy,
            .record, .stopRecording, .keepHistory, .repaint, .suspend, .quit, .setPace, .edit, .mouse, .setDestination,
            .remember,
            .find, .stopFind, .dissect,
            .saveTraffic, .fault, .fetchHeld, .bell:
            nil
        }
    }
}
