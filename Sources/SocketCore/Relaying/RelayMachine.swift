/// One relayed connection: a client that came, and the leg to the target that its bytes are passed on to.
///
/// The bytes do not go through here: the shell hands what one leg received to the other. This decides what passes
/// beside them: how the slower end holds back the faster one, how each direction ends by itself, and how the loss of
/// one leg is told to the other.
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

    /// What the shell does.
    package enum Action: Equatable, Sendable {
        /// Read whatever comes on both legs, and go on doing so.
        case begin
        /// Take nothing more from that leg (true), or go on (false).
        case hold(Leg, Bool)
        /// Send FIN on that leg behind all that is queued for it.
        case shutWrite(Leg)
        /// Close that leg once all that is queued for it is written.
        case close(Leg)
        /// Close that leg at once, with RST where it is connected.
        case reset(Leg)
        /// Both legs are over.
        case finished
    }

    private enum LegState: Equatable {
        /// Its connection is not there yet; `ended`: the other leg's FIN is to be passed on as soon as it is.
        case connecting(ended: Bool)
        case open
        /// The other leg was lost; a reset follows when what came before the loss is written.
        case doomed
        case over
    }

    private var client = LegState.open
    private var target = LegState.connecting(ended: false)

    /// A client has come; the connect to its target has begun or is about to.
    package init() {}

    /// The target's connection stands.
    package mutating func targetConnected() -> [Action] {
        switch target {
        case .connecting(let ended):
            target = .open
            return ended ? [.begin, .shutWrite(.target)] : [.begin]
        case .open, .doomed, .over: return []
        }
    }

    /// All that leg will ever send has been handed over: its FIN came.
    package mutating func ended(_ leg: Leg) -> [Action] {
        switch self[leg.other] {
        case .connecting:
            self[leg.other] = .connecting(ended: true)
            return []
        case .open: return [.shutWrite(leg.other)]
        case .doomed, .over: return []
        }
    }

    /// The bytes queued for that leg rose above the high watermark (false), or are few again (true).
    package mutating func becameWritable(_ leg: Leg, _ isWritable: Bool) -> [Action] {
        switch self[leg.other] {
        case .open: return [.hold(leg.other, !isWritable)]
        case .connecting, .doomed, .over: return []
        }
    }

    /// That leg is over. `failed`: by a reset, a timeout or a refusal, and not as both sides or a person wanted it.
    /// `pending`: bytes still queued for the other leg.
    package mutating func lost(_ leg: Leg, failed: Bool, pending: Int) -> [Action] {
        self[leg] = .over
        switch self[leg.other] {
        case .over: return [.finished]
        case .connecting: return [.reset(leg.other)]
        case .doomed: return []
        case .open:
            guard failed else { return [.close(leg.other)] }
            guard pending > 0 else { return [.reset(leg.other)] }
            self[leg.other] = .doomed
            return [.hold(leg.other, true)]
        }
    }

    /// Nothing is queued for that leg any more.
    package mutating func drained(_ leg: Leg) -> [Action] {
        switch self[leg] {
        case .doomed: return [.reset(leg)]
        case .connecting, .open, .over: return []
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
