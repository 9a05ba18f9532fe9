/// One relayed connection: the client's leg, and the leg to the target that its bytes are forwarded to.
///
/// It decides everything except the bytes, which the caller copies between the legs: back-pressure from the slower leg,
/// the end of each direction, and how one leg's loss reaches the other. Each leg sees what it would see if both peers
/// were connected directly:
///
/// - An end within the stream (FIN, or a failure of TLS) follows the bytes before it.
/// - A reset overtakes them. Bytes that are still queued are lost, in both directions.
/// - Bytes for a leg that is gone are answered by a reset, as the kernel answers bytes for a closed socket.
package struct RelayMachine: Equatable, Sendable {
    /// The two legs.
    package enum Leg: Equatable, Sendable {
        /// The leg of the client that connected to the relay.
        case client
        /// The leg that the relay connects to the target.
        case target

        /// The leg on the other side.
        package var other: Leg { self == .client ? .target : .client }
    }

    /// How a leg ended.
    package enum Loss: Equatable, Sendable {
        /// Both directions had ended, or nothing could follow the peer's FIN.
        case finished
        /// The user closed it.
        case closed
        /// TLS failed: an alert, bytes that are not TLS, or FIN without close_notify.
        case cut
        /// A reset, a timeout or a refused connect.
        case reset
    }

    /// What the caller must do.
    package enum Action: Equatable, Sendable {
        /// Begin continuous reads on both legs.
        case begin
        /// Hold back reads from that leg (true), or resume them (false).
        case hold(Leg, Bool)
        /// Send FIN on that leg after its queued bytes. If `isCut` is set and the leg has TLS, send no close_notify.
        case shutWrite(Leg, isCut: Bool)
        /// Close that leg once its queued bytes are written.
        case close(Leg)
        /// Send the bytes that the kernel accepts at once on that leg, drop the rest, and close with RST.
        case reset(Leg)
        /// Both legs have ended.
        case finished
    }

    private enum LegState: Equatable {
        /// It is not connected yet. `ended` is set if the other leg's FIN must be forwarded, and is `true` if its
        /// stream was truncated.
        case connecting(ended: Bool?)
        case open
        /// The other leg is gone. Queued bytes are still written, and received bytes have no destination.
        case alone
        /// Like `alone`, but a reset follows the last queued byte.
        case doomed
        case over
    }

    private var client = LegState.open
    private var target = LegState.connecting(ended: nil)
    /// The legs with TLS, the only ones that can signal a truncated stream.
    private let secure: Set<Leg>

    /// Creates the machine of an accepted client, whose target is about to be connected or is connecting.
    package init(secure: Set<Leg> = []) {
        self.secure = secure
    }

    /// Whether the target is not connected yet.
    package var isConnecting: Bool { if case .connecting = target { true } else { false } }

    /// Records that the target is connected.
    package mutating func targetConnected() -> [Action] {
        guard case .connecting(let ended) = target else { return [] }
        target = .open
        return [.begin] + (ended.map { [.shutWrite(.target, isCut: $0)] } ?? [])
    }

    /// Records a leg's FIN, after all its bytes were forwarded. `isCut` is set if its TLS sent no close_notify.
    package mutating func ended(_ leg: Leg, isCut: Bool = false) -> [Action] {
        switch self[leg.other] {
        case .connecting:
            self[leg.other] = .connecting(ended: isCut)
            return []
        case .open: return [.shutWrite(leg.other, isCut: isCut)]
        case .alone, .doomed, .over: return []
        }
    }

    /// Records that the bytes queued for that leg rose above the high watermark (false), or fell again (true).
    package mutating func becameWritable(_ leg: Leg, _ isWritable: Bool) -> [Action] {
        switch self[leg.other] {
        case .open: [.hold(leg.other, !isWritable)]
        case .connecting, .alone, .doomed, .over: []
        }
    }

    /// Whether bytes from that leg have no destination.
    package func isAlone(_ leg: Leg) -> Bool { self[leg.other] == .over }

    /// Records bytes from a leg that is alone.
    package mutating func receivedForNobody(_ leg: Leg) -> [Action] {
        switch self[leg] {
        case .alone, .doomed: [.reset(leg)]
        case .connecting, .open, .over: []
        }
    }

    /// Records that a leg has ended. `pending` is the number of bytes still queued for the other leg, and `lost` the
    /// number that were queued for this one.
    package mutating func lost(_ leg: Leg, _ loss: Loss, pending: Int, lost: Int) -> [Action] {
        self[leg] = .over
        switch self[leg.other] {
        case .over: return [.finished]
        case .connecting: return [.reset(leg.other)]
        case .alone, .doomed: return []
        case .open: return leave(leg.other, loss, pending: pending, lost: lost)
        }
    }

    /// Ends a leg whose other leg is gone. Reads that were held back for the other leg are resumed.
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

    /// Records that that leg has no queued bytes left.
    package mutating func drained(_ leg: Leg) -> [Action] {
        switch self[leg] {
        case .doomed: [.reset(leg)]
        case .connecting, .open, .alone, .over: []
        }
    }

    /// Whether that leg must be reported when it has drained.
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
