import SocketCore

/// What a source of sockets can do in addition to showing them.
package struct SourceAbilities: OptionSet, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// It performs commands on its sockets, such as reads, writes and closes.
    package static let commands = SourceAbilities(rawValue: 1)
    /// It sends files and macros, sends auto-replies and starts TLS, which takes more than a command.
    package static let sending = SourceAbilities(rawValue: 2)
}

/// The source of the sockets on the screen: the program's own engine, or an attached program. The views don't depend on
/// which it is.
///
/// A source chooses the names of its sockets, with ordinal 0. The list of sources assigns the ordinals. Only `rest` and
/// `close` may wait.
package protocol SocketSource: AnyObject, Sendable {
    /// Returns its name and state, with the ordinal from the list.
    func info(ordinal: Int) -> ProgramInfo
    /// Answers with a snapshot on any thread, or with `nil` if there is none yet or there never will be. Its events are
    /// those since the previous snapshot, so each answer must be used.
    func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot?) -> Void)
    /// Whether there is no snapshot yet, but may be one soon.
    var isAwaited: Bool { get }
    /// Whether the last snapshot had everything requested, as far as it will arrive.
    var hasAnswered: Bool { get }
    /// Answers with the kept traffic of these sockets on any thread, or with `nil` if only the traffic of the socket in
    /// a snapshot request is known.
    func requestTraffic(of sockets: [SocketID], then: @escaping @Sendable ([SocketID: TrafficSnapshot]?) -> Void)
    /// Answers with bytes of a socket that its program has not read, on any thread, or with `nil` if the last look was
    /// too recent or there is no such socket.
    func requestUnread(_ request: UnreadRequest, then: @escaping @Sendable (UnreadLook?) -> Void)
    /// Performs a command. Later snapshots show the effect.
    func perform(_ command: SocketCommand)
    /// Returns the notices for the user since the last call.
    func takeNotices() -> [String]
    /// Releases what it holds of other programs. Called before this program stops or an editor takes the terminal,
    /// because there will be no requests until then.
    func rest()
    /// Removes what other programs could see, such as socket files. Called before this program ends.
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
    /// Returns why this program lacks these abilities, as a sentence, or `nil` if it has them.
    package func refusal(needing needs: SourceAbilities) -> String? {
        if needs.isEmpty { return nil }
        if hasEnded { return "\(title) has ended" }
        if isCapture { return "\(title) is captured: its traffic cannot be changed" }
        if isOutside { return "\(title) is seen from outside: its sockets cannot be changed here" }
        if !isOurs, process == 0 { return "\(title) is a recording: its sockets cannot be changed" }
        if !abilities.contains(.commands) { return "\(title) is read-only; changes need SOCKETKIT_INSPECT=control" }
        return abilities.isSuperset(of: needs) ? nil : "\(title): only connections opened here can be changed"
    }

    /// Returns why this program can't perform an effect on its sockets, as a sentence, or `nil` if it can.
    package func refusal(of effect: Effect) -> String? { refusal(needing: effect.claims.needs) }
}
