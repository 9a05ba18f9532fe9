import SocketCore

/// Where connections come from, and with what settings: one for all that a listener accepts, or for a connect.
final class ConnectionOrigin: Sendable {
    /// What snapshots show of it.
    let facts: OriginFacts
    /// As the settings were when the session began; the marks of the write queue may have changed since.
    let settings: Shared<SocketConfiguration>
    /// The host name or numeric address that a client was to connect to; nil: not known.
    let host: String?
    /// What a connection begins with.
    let start: ConnectionStart

    init(
        _ role: SocketRole, of parent: SocketID? = nil, target: String, host: String? = nil,
        settings: Shared<SocketConfiguration>
    ) {
        facts = OriginFacts(role, of: parent, target: target, settings.value)
        (self.settings, self.host) = (settings, host)
        start = ConnectionStart(settings.value)
    }

    /// The same with another target.
    func withTarget(_ target: String) -> ConnectionOrigin {
        ConnectionOrigin(facts.role, of: facts.parent, target: target, host: host, settings: settings)
    }
}

/// What a connection takes over from its settings at once.
struct ConnectionStart {
    let allowsHalfOpen: Bool
    let passesCuts: Bool
    let hasWatermarks: Bool
    let hasIdleTimeout: Bool
    /// Whether user code sees the descriptor.
    let mayLiveOn: Bool
    let options: SocketOptions

    init(_ configuration: SocketConfiguration) {
        (allowsHalfOpen, passesCuts) = (configuration.allowsHalfOpen, configuration.passesCuts)
        hasWatermarks = configuration.writeWatermarks != nil
        hasIdleTimeout = configuration.idleTimeout != nil
        mayLiveOn = configuration.prepareDescriptor != nil
        options = configuration.options
    }
}

/// What outlasts a connection of its origin: nothing of it is the user's, so it may go at any time.
final class OriginFacts: Sendable {
    let role: SocketRole
    let parent: SocketID?
    let target: String
    let name: String
    let idleTimeout: Duration?
    let isKeptAlive: Bool

    init(_ role: SocketRole, of parent: SocketID?, target: String, _ configuration: SocketConfiguration) {
        (self.role, self.parent, self.target) = (role, parent, target)
        (name, idleTimeout) = (configuration.name, configuration.idleTimeout)
        isKeptAlive = configuration.options.keepAlive != nil
    }
}
