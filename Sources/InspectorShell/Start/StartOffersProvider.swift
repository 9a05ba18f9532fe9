import Dispatch
import HostSockets
import InspectorCore
import SocketKit

/// Finds the offers of the start screen, away from the run loop, because /proc can be large.
package enum StartOffersProvider {
    /// Posts the offers to the inbox when they are found.
    package static func find(recent: RecentTargets?, for inbox: Inbox) {
        DispatchQueue.global().async { @Sendable in
            let offers = StartOffers(
                recent: recent?.offers() ?? [], listening: AddressOwners().listeners().map(StartOffers.Listening.init),
                programs: AttachablePrograms.offers())
            inbox.post(.start(offers))
        }
    }
}

extension StartOffers.Listening {
    init(_ address: SocketAddress, _ program: PeerEnd.Program?) {
        self.init(address: address.description, program: program?.title ?? "")
    }
}

/// Who has an address that a listener or datagram socket requested.
package enum AddressInUse {
    /// Returns in words which program has the address, or `nil` if that can't be seen. Resolves a host name, which may
    /// take time.
    package static func holder(of port: UInt16, host: String, datagrams: Bool = false) -> String? {
        let isEvery = host.isEmpty || host == "*"
        let wanted = isEvery ? [.v4(0), .v6(0, 0)] : SystemResolver.addresses(of: host).compactMap(\.ip)
        return AddressOwners().holder(of: port, at: wanted, datagrams: datagrams).map { address, program in
            "\(program?.title ?? "a program not visible from here") uses \(address)"
        }
    }
}
