import SocketKit
import SocketWorkshop

/// TLS that a client begins inside another protocol, of which the relay sees only ciphertext.
extension RelayedPair {
    /// Looks at bytes received on a leg, before they are forwarded.
    func watchUpgrade(_ bytes: [UInt8], from leg: RelayMachine.Leg) {
        let upgrade = state.withLock { state -> TLSUpgradeWatch.Upgrade? in
            guard state.upgrade != nil else { return nil }
            var found: TLSUpgradeWatch.Upgrade?
            switch leg {
            case .client: found = state.upgrade?.receiveFromClient(bytes)
            case .target: state.upgrade?.receiveFromServer(bytes)
            }
            if state.upgrade?.isOver == true { state.upgrade = nil }
            return found
        }
        guard let upgrade else { return }
        client.markUpgraded(to: target, upgrade.inside, after: upgrade.offset)
    }
}
