import CSockTUIRun
import Glibc
import SocketKit
import SocketWorkshop

/// A pair whose client is connected only once its target is: the connect of a program that is run. Everything runs on
/// the engine's queue.
extension RelayedPair {
    /// Whether the program still waits for its connect.
    var isAwaited: Bool { state.withLock { $0.awaited != nil } }

    /// Says how the connect to the target went, once.
    func announce(_ outcome: TargetOutcome) {
        let awaited = state.withLock { state in
            defer { state.awaited = nil }
            return state.awaited
        }
        awaited?(outcome)
    }

    /// Called when the target is connected. What it sends waits for the client.
    func awaitClient() {
        target.holdBackAtOnce()
        announce(.connected(target.localAddress))
    }

    /// Ends a pair that has no legs yet.
    func giveUp() {
        announce(.failed(nil))
        guard target.session == nil else { return target.disconnect(.reset) }
        perform(state.withLock { $0.machine.lost(.target, .reset, pending: 0, lost: 0) })
    }

    /// Takes the client's leg, a connected socket, which is reset if the target is gone already.
    package func arrive(_ descriptor: Int32) {
        guard target.session != nil else { return crun_reset(descriptor) }
        do throws(SocketError) {
            try client.adopt(accepted: descriptor)
        } catch {
            crun_reset(descriptor)
            return target.disconnect(.reset)
        }
        client.link(to: target)
        state.withLock { $0.sessions[.client] = client.session }
        showFaults()
        target.holdBack(false)
        targetIsThere()
    }
}
