import InspectorCore
import SocketKit

/// Retains the handles of live sessions, and leaves timeouts for the user at the screen to answer.
package final class StreamKeeper: AsyncSocketDelegate, SocketListenerDelegate {
    private struct Kept {
        var sockets: [ObjectIdentifier: AsyncSocket] = [:]
        /// The listeners, and whether each connection that they accept gets a standing read.
        var listeners: [ObjectIdentifier: (SocketListener, standingRead: Bool)] = [:]
        var relays: [Relay] = []
        var datagramRelays: [DatagramRelay] = []
        var demo: Demo?
        var replies = AutoReplies()
        /// The session of each socket. A handle forgets its own before it reports its end.
        var names: [ObjectIdentifier: SocketID] = [:]
    }

    private let kept = Lock(Kept())
    private let asksAboutTrust: Bool

    private let received: ReceivedBytes?
    /// Applies rules and breakpoints to these connections.
    package let faults: OwnConnections

    package init(asksAboutTrust: Bool, _ received: ReceivedBytes? = nil, faults: OwnConnections) {
        self.asksAboutTrust = asksAboutTrust
        self.received = received
        self.faults = faults
    }

    /// `isClient` is `true` if we connect, and `false` if the connection was accepted.
    package func keep(_ socket: AsyncSocket, isClient: Bool = true) {
        faults.add(socket, isClient: isClient)
        kept.withLock {
            $0.sockets[ObjectIdentifier(socket)] = socket
            $0.names[ObjectIdentifier(socket)] = socket.session
        }
    }

    package func keep(_ listener: SocketListener, standingRead: Bool) {
        kept.withLock { $0.listeners[ObjectIdentifier(listener)] = (listener, standingRead) }
    }

    package func keep(_ relay: Relay) {
        kept.withLock { $0.relays.append(relay) }
    }

    package func keep(_ relay: DatagramRelay) {
        kept.withLock { $0.datagramRelays.append(relay) }
    }

    /// Returns `false` if that socket is not kept here.
    package func setReplies(_ rules: [ReplyRule], of id: SocketID) -> Bool {
        kept.withLock { kept in
            let isKept =
                kept.sockets.values.contains { $0.session == id }
                || kept.listeners.values.contains { $0.0.session == id }
            if isKept { kept.replies.set(rules, of: id) }
            return isKept
        }
    }

    package func stopListeners() {
        for relay in kept.withLock({ $0.relays }) { relay.stop() }
        for relay in kept.withLock({ $0.datagramRelays }) { relay.stop() }
        for (listener, _) in kept.withLock({ Array($0.listeners.values) }) { listener.stop() }
    }

    package var hasDemo: Bool { kept.withLock { $0.demo != nil } }

    package func keep(_ demo: Demo) {
        kept.withLock { $0.demo = demo }
    }

    package func drop(_ listener: SocketListener) {
        _ = kept.withLock { $0.listeners.removeValue(forKey: ObjectIdentifier(listener)) }
    }

    package func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
        let standingRead = kept.withLock { $0.listeners[ObjectIdentifier(listener)]?.standingRead } ?? false
        socket.delegate = self
        keep(socket, isClient: false)
        if let id = socket.session, let parent = listener.session {
            kept.withLock { $0.replies.accepted(id, by: parent) }
        }
        if standingRead { socket.read(.standing) }
    }

    package func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        guard let id = kept.withLock({ $0.names[ObjectIdentifier(socket)] }) ?? socket.session else { return }
        received?.add(bytes, from: id)
        for reply in kept.withLock({ $0.replies.replies(of: id, to: bytes) }) where !faults.write(reply, to: id) {
            socket.write(reply)
        }
    }

    package func socket(_ socket: AsyncSocket, didConnectTo address: SocketAddress) {
        if let id = socket.session { faults.connected(id) }
    }

    package func listener(_ listener: SocketListener, didStop error: SocketError?) { drop(listener) }

    /// Returns settings for a run without a screen, in which OpenSSL alone verifies certificates.
    package func judged(_ settings: TLSSettings) -> TLSSettings {
        guard !asksAboutTrust else { return settings }
        var settings = settings
        settings.trustEvaluator = .library
        return settings
    }

    package func socket(_ socket: AsyncSocket, didReceive trust: TLSTrust) -> TrustVerdict { .later }

    package func socket(_ socket: AsyncSocket, didTimeOut operation: TimedOutOperation) -> TimeoutVerdict {
        if let id = socket.session { faults.timedOut(id) }
        return .later
    }

    package func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        kept.withLock { kept in
            kept.sockets[ObjectIdentifier(socket)] = nil
            guard let id = kept.names.removeValue(forKey: ObjectIdentifier(socket)) else { return }
            kept.replies.forget(id)
            faults.remove(id)
        }
    }
}
