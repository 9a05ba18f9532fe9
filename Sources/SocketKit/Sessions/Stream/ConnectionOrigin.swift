import SocketCore

/// The origin and settings of connections: one for all that a listener accepts, or one for each connect.
final class ConnectionOrigin: Sendable {
    /// The facts that snapshots show of it.
    let facts: OriginFacts
    /// The settings when the session began. The watermarks of the write queue may have changed since.
    let settings: Shared<SocketConfiguration>
    /// The host name or numeric address that a client connects to, or `nil` if it isn't known.
    let host: String?
    let start: ConnectionStart

    init(
        _ role: SocketRole, of parent: SocketID? = nil, target: String, host: String? = nil,
        settings: Shared<SocketConfiguration>
    ) {
        facts = OriginFacts(role, of: parent, target: target, settings.value)
        (self.settings, self.host) = (settings, host)
        start = ConnectionStart(settings.value)
    }

    func withTarget(_ target: String) -> ConnectionOrigin {
        ConnectionOrigin(facts.role, of: facts.parent, target: target, host: host, settings: settings)
    }
}

/// What a connection copies from its settings when it begins.
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

/// The facts that outlast a connection. They hold none of the caller's objects, so they can be released at any time.
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
