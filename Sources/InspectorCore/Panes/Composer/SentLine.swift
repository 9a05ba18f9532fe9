import SocketCore

/// A line that was sent, and how it was read.
package struct SentLine: Hashable, Sendable {
    package var text: String
    package var mode: Composer.Mode
    package var ending: LineEnding

    package init(text: String, mode: Composer.Mode, ending: LineEnding) {
        self.text = text
        self.mode = mode
        self.ending = ending
    }
}

extension Model {
    /// By what lines to this socket are remembered: the address that was connected to, or listened on; nil: by nothing.
    func historyKey(_ id: SocketID) -> String? {
        guard let socket = latest?.socket(id), !socket.target.isEmpty else { return nil }
        switch socket.role {
        case .client, .datagram: return socket.target
        case .accepted: return "listen \(socket.target)"
        case .listener: return nil
        }
    }

    /// A composer that has sent nothing yet, with what was sent to the same peer in other runs.
    func freshComposer(_ key: String?) -> Composer {
        var composer = Composer()
        if let key, let lines = sentLines[key] { composer.remember(lines) }
        return composer
    }

    /// The composer of a session, or the one that it would get.
    func composer(of id: SocketID) -> Composer {
        var composer = composers[id] ?? freshComposer(historyKey(id))
        let sendsMessages = shown?.socket(id)?.ownWebSocket != nil
        if composer.sendsMessages != sendsMessages { composer.sendsMessages = sendsMessages }
        return composer
    }

    /// Remembers a line for other connections to the same peer, and for other runs.
    mutating func remember(_ line: SentLine, sentTo id: SocketID) -> [Effect] {
        guard options.keepsHistory, let key = historyKey(id), !line.text.isEmpty else { return [] }
        sentLines[key, default: []].removeAll { $0.text == line.text }
        sentLines[key, default: []].append(line)
        return [.remember(key, line)]
    }
}
