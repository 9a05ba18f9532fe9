import SocketCore

/// The bytes that an end of a TCP connection has counted. Two ends of one connection agree about them, if neither has
/// changed since its look before. Two legs of a transparent proxy have each other's addresses, and do not agree.
struct HostCounters: Equatable {
    private var unsent: Int64?
    private var acknowledged: UInt64?
    private var received: UInt64?

    /// How well two ends with each other's addresses fit.
    enum Pairing: String, Sendable {
        /// Their counters agree, and enough bytes have passed that this is no accident.
        case counters
        /// Only their addresses are known to agree.
        case addresses
        /// Their counters disagree: these are two connections.
        case contradicted
    }

    /// Idle connections agree by accident.
    private static let fewBytes: UInt64 = 1_024

    init(_ socket: HostSocket) {
        (unsent, acknowledged, received) = (socket.sendQueue, socket.tcp?.acknowledged, socket.tcp?.received)
    }

    /// Compares two ends, of which neither has changed between two looks.
    static func pairing(_ one: HostSocket, _ other: HostSocket) -> Pairing {
        guard one.countsBytes, other.countsBytes, one.isSynchronized, other.isSynchronized,
            case let (near, far) = (HostCounters(one), HostCounters(other)),
            let there = near.fits(far), let back = far.fits(near)
        else { return .addresses }
        guard there, back else { return .contradicted }
        return max(near.acknowledged ?? 0, far.acknowledged ?? 0) > fewBytes ? .counters : .addresses
    }

    /// Whether the other end can have received what this one sent, or `nil` if that is not known. A connecting end counts
    /// its SYN as acknowledged. Both count a FIN.
    private func fits(_ reader: HostCounters) -> Bool? {
        guard let acknowledged, let unsent, unsent >= 0, let received = reader.received else { return nil }
        return received >= acknowledged - min(acknowledged, 1) && received <= acknowledged &+ UInt64(unsent)
    }
}

extension HostSocket {
    /// Whether both ends have heard of each other.
    fileprivate var isSynchronized: Bool {
        switch state {
        case .synSent, .synReceived, .newSynReceived, .listening, .closed, .timeWait: false
        default: true
        }
    }
}
