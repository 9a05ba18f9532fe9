/// The order in which the addresses of one name are tried (RFC 8305, section 4).
package enum AddressOrder {
    /// Returns the addresses with alternating families, the preferred one first, so that an unreachable family delays
    /// the other by one attempt only. Within a family the resolver's order is kept. Addresses that are not IPv6 count
    /// as the other family.
    package static func interleaved(_ addresses: [SocketAddress], prefersIPv6: Bool) -> [SocketAddress] {
        let preferred = addresses.filter { ($0.family == .v6) == prefersIPv6 }
        let others = addresses.filter { ($0.family == .v6) != prefersIPv6 }
        let turns = max(preferred.count, others.count)
        return (0..<turns).flatMap { preferred.dropFirst($0).prefix(1) + others.dropFirst($0).prefix(1) }
    }
}
