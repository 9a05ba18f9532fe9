import SocketCore

/// The texts of hints, and when they are shown.
extension Model {
    /// Returns a hint with the keys of a context, or else of a view. The default context is the one that has the
    /// cursor. The hint must not contain text from a peer or a file.
    package func naming(_ text: String, in place: KeyContext? = nil, of view: KeyContext? = nil) -> String {
        shared.options.keys.naming(text, in: place ?? paneContext, of: view)
    }

    /// The key that answers what waits for the user.
    var answerKey: String { naming("{answer}") }

    /// Whether something can be written to the selected connection.
    var acceptsText: Bool { selected != nil && canCompose }

    /// Whether the selected connection, or a connection waiting at the selected listener, needs an answer.
    var awaitsAnswer: Bool {
        guard let selected else { return false }
        let isAwaited = selected.role == .listener && (selected.kernel?.receiveQueue ?? 0) > 0
        return selected.asking != nil || selected.tls?.question != nil || isAwaited
    }

    /// Whether the selected connection has traffic to look through.
    var hasTraffic: Bool { !traffic.shown(in: shared).items.isEmpty }

    /// Whether the results of `:find` replace the rows.
    var showsFound: Bool { tab == .list && list.found != nil }

    /// What Enter does with the line, or `nil` if the line can't be sent.
    var sendingHint: String? {
        if composer.search != nil { return "use it" }
        guard canCompose else { return nil }
        return injection == nil ? "send" : "inject"
    }
}
