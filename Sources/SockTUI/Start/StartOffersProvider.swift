import Dispatch
import InspectorCore

/// Finds what the start screen offers, away from the run loop, since /proc can be large.
enum StartOffersProvider {
    /// Leaves the offers in the inbox when they are found.
    static func find(recent: RecentTargets?, for inbox: Inbox) {
        DispatchQueue.global().async { @Sendable in
            let offers = StartOffers(
                recent: recent?.offers() ?? [], listening: HostListeners.find(), programs: AttachablePrograms.offers())
            inbox.post(.start(offers))
        }
    }
}
