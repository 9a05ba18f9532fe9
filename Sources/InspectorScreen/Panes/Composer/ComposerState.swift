import InspectorCore
import SocketCore

/// The composers: the line of each connection, and what was sent before.
package struct ComposerState: Sendable {
    private var composers: [SocketID: Composer] = [:]
    /// Lines sent in this run and in earlier ones, by peer.
    var sentLines: [String: [SentLine]] = [:]
    /// The facts about the path in the composer, as far as known.
    package internal(set) var fileFacts: FileFacts?
    /// Whether ^X was pressed and its second key is expected.
    var awaitsChord = false

    /// The composer of a session, or `nil` if nothing was typed or set in it.
    package internal(set) subscript(id: SocketID) -> Composer? {
        get { composers[id] }
        set { composers[id] = newValue }
    }

    package var isEmpty: Bool { composers.isEmpty }

    /// Returns the composer of a session, or the one that it would get.
    func composer(of id: SocketID, in shared: Shared) -> Composer {
        var composer = composers[id] ?? freshComposer(Self.historyKey(id, in: shared))
        let sendsMessages = shared.shown?.socket(id)?.takesMessages ?? false
        if composer.sendsMessages != sendsMessages { composer.sendsMessages = sendsMessages }
        return composer
    }

    mutating func edit(_ id: SocketID, in shared: Shared, _ change: (inout Composer) -> Void) {
        var composer = composer(of: id, in: shared)
        change(&composer)
        composers[id] = composer
    }

    /// Returns the tag of the next read or write, and advances it.
    mutating func takeTag(of id: SocketID) -> Int {
        defer { composers[id, default: Composer()].nextTag += 1 }
        return composers[id]?.nextTag ?? Composer().nextTag
    }

    /// Drops the composers of sessions that are gone.
    mutating func forget(_ isGone: (SocketID) -> Bool) {
        for id in Array(composers.keys) where isGone(id) { composers[id] = nil }
    }

    // MARK: History

    /// Returns the key under which lines to this socket are remembered, the address that it connected to or listens on,
    /// or `nil` if they are not remembered.
    static func historyKey(_ id: SocketID, in shared: Shared) -> String? {
        guard let socket = shared.latest?.socket(id), !socket.target.isEmpty else { return nil }
        switch socket.role {
        case .client, .datagram: return socket.target
        case .accepted: return "listen \(socket.target)"
        case .listener: return nil
        }
    }

    /// Returns a new composer with the lines sent to the same peer in other runs.
    func freshComposer(_ key: String?) -> Composer {
        var composer = Composer()
        if let key, let lines = sentLines[key] { composer.remember(lines) }
        return composer
    }

    /// Remembers a line for other connections to the same peer, and for later runs.
    mutating func remember(_ line: SentLine, sentTo id: SocketID, in shared: Shared) -> [Effect] {
        guard shared.options.keepsHistory, let key = Self.historyKey(id, in: shared), !line.text.isEmpty else {
            return []
        }
        sentLines[key, default: []].removeAll { $0.text == line.text }
        sentLines[key, default: []].append(line)
        return [.remember(key, line)]
    }

    /// Adopts the lines and settings of an earlier connection to the same address.
    mutating func inherit(_ id: SocketID, target: String, in shared: Shared) {
        let before = shared.latest?.sockets.last { $0.id != id && $0.target == target && composers[$0.id] != nil }
        guard composers[id] == nil else { return }
        guard let old = before.flatMap({ composers[$0.id] }) else {
            if sentLines[target] != nil { composers[id] = freshComposer(target) }
            return
        }
        var composer = Composer()
        composer.inherit(old)
        // A line typed after the earlier connection ended is meant for this one.
        if let before, !before.isLive { composer.editor.set(old.editor.text) }
        composers[id] = composer
    }

    /// Advances the counters by what a repeated message has sent.
    mutating func advance(_ progress: TransmissionProgress) {
        let id = progress.transmission.socket
        guard case .message(_, let first) = progress.transmission.source, let composer = composers[id] else { return }
        composers[id]?.sequence = max(composer.sequence, first + progress.rounds)
    }
}
