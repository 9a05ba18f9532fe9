import Dispatch
import InspectorCore

/// Finds the offers of the start screen, away from the run loop, because /proc can be large.
package enum StartOffersProvider {
    /// Posts the offers to the inbox when they are found.
    package static func find(recent: RecentTargets?, for inbox: Inbox) {
        DispatchQueue.global().async { @Sendable in
            let offers = StartOffers(
                recent: recent?.offers() ?? [], listening: HostListeners.find(), programs: AttachablePrograms.offers())
            inbox.post(.start(offers))
        }
    }
}
