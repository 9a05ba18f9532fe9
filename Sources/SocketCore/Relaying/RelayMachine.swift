/// One relayed connection: the client's leg, and the leg to the target that its bytes are forwarded to.
///
/// The bytes do not go through here: the shell hands what one leg received to the other. This decides what goes beside
/// them: how the slower leg holds back the faster one, how each direction ends, and how one leg learns that the other is
/// gone. Each leg sees what it would see if both peers were connected directly:
///
/// - An end within the stream (FIN, or a failure of TLS) follows the bytes before it.
/// - A reset overtakes them. What is still queued then is lost, in both directions.
/// - Bytes for a leg that is gone are answered by a reset, as the kernel of a closed socket answers them.
package struct RelayMachine: Equatable, Sendable {
    /// The two ends.
    package enum Leg: Hashable, Sendable {
        /// The one that connected to the relay.
        case client
        /// The one that the relay connects to.
        case target

        /// The leg on the other side.
        package var other: Leg { self == .client ? .target : .client }
    }

    /// How a leg came to be over.
    package enum Loss: Hashable, Sendable {
        /// Both directions had ended, or nothing could follow the peer's FIN.
        case finished
        /// The user closed it.
        case closed
        /// TLS failed: an alert, bytes that are not TLS, or FIN without close_notify.
        case cut
        /// A reset, a timeout or a refused connect.
        case reset
    }

    /// What the shell does.
    package enum Action: Equatable, Sendable {
        /// Read whatever comes on both legs, and go on doing so.
        case begin
        /// Take nothing more from that leg (true), or go on (false).
        case hold(Leg, Bool)
        /// Send FIN on that leg after its queued bytes. `isCut`: without close_notify, if it has TLS.
        case shutWrite(Leg, isCut: Bool)
        /// Close that leg once its queued bytes are written.
        case close(Leg)
        /// Send what the kernel takes at once on that leg, drop the rest, and close with RST.
        case reset(Leg)
        /// Both legs are over.
        case finished
    }

    private enum LegState: Equatable {
        /// It is not connected yet. `ended`: the other leg's FIN is to be passed on; `true`: cut off.
        case connecting(ended: Bool?)
        case open
        /// The other leg is gone; what is queued here is still written, and nothing can be read any more.
        case alone
        /// The same, and a reset follows the last queued byte.
        case doomed
        case over
    }

    private var client = LegState.open
    private var target = LegState.connecting(ended: nil)
    /// The legs that have TLS, which alone can say that a stream was cut off.
    private let secure: Set<Leg>

    /// A client has come; the connect to its target has begun or is about to.
    package init(secure: Set<Leg> = []) {
        self.secure = secure
    }

    /// Whether the connect to the target is not done yet.
    package var isConnecting: Bool { if case .connecting = target { true } else { false } }

    /// The target is connected.
    package mutating func targetConnected() -> [Action] {
        guard case .connecting(let ended) = target else { return [] }
        target = .open
        return [.begin] + (ended.map { [.shutWrite(.target, isCut: $0)] } ?? [])
    }

    /// All that leg will ever send has been handed over: its FIN came. `isCut`: without the close_notify of its TLS.
    package mutating func ended(_ leg: Leg, isCut: Bool = false) -> [Action] {
        switch self[leg.other] {
        case .connecting:
            self[leg.other] = .connecting(ended: isCut)
            return []
        case .open: return [.shutWrite(leg.other, isCut: isCut)]
        case .alone, .doomed, .over: return []
        }
    }

    /// The bytes queued for that leg rose above the high watermark (false), or are few again (true).
    package mutating func becameWritable(_ leg: Leg, _ isWritable: Bool) -> [Action] {
        switch self[leg.other] {
        case .open: [.hold(leg.other, !isWritable)]
        case .connecting, .alone, .doomed, .over: []
        }
    }

    /// Whether bytes from that leg have nowhere to go.
    package func isAlone(_ leg: Leg) -> Bool { self[leg.other] == .over }

    /// Bytes came from a leg that is alone.
    package mutating func receivedForNobody(_ leg: Leg) -> [Action] {
        switch self[leg] {
        case .alone, .doomed: [.reset(leg)]
        case .connecting, .open, .over: []
        }
    }

    /// That leg is over. `pending`: bytes still queued for the other leg; `lost`: bytes that were queued for this one.
    package mutating func lost(_ leg: Leg, _ loss: Loss, pending: Int, lost: Int) -> [Action] {
        self[leg] = .over
        switch self[leg.other] {
        case .over: return [.finished]
        case .connecting: return [.reset(leg.other)]
        case .alone, .doomed: return []
        case .open: return leave(leg.other, loss, pending: pending, lost: lost)
        }
    }

    /// A leg learns that the other one is gone. It was perhaps held back for the other's sake, and no more.
    private mutating func leave(_ leg: Leg, _ loss: Loss, pending: Int, lost: Int) -> [Action] {
        self[leg] = .alone
        switch loss {
        case .finished: return [.hold(leg, false), .shutWrite(leg, isCut: false)]
        case .closed: return [.hold(leg, false), .close(leg)]
        case .reset: return [.reset(leg)]
        case .cut where lost > 0: return [.reset(leg)]
        case .cut where secure.contains(leg): return [.hold(leg, false), .shutWrite(leg, isCut: true)]
        case .cut where pending > 0:
            self[leg] = .doomed
            return [.hold(leg, false)]
        case .cut: return [.reset(leg)]
        }
    }

    /// Nothing is queued for that leg any more.
    package mutating func drained(_ leg: Leg) -> [Action] {
        switch self[leg] {
        case .doomed: [.reset(leg)]
        case .connecting, .open, .alone, .over: []
        }
    }

    /// Whether a drained leg matters.
    package func isDoomed(_ leg: Leg) -> Bool { self[leg] == .doomed }

    private subscript(_ leg: Leg) -> LegState {
        get {
            switch leg {
            case .client: client
            case .target: target
            }
        }
        set {
            switch leg {
            case .client: client = newValue
            case .target: target = newValue
            }
        }
    }
}
