/// What this host knows about the two ends of a captured connection. An end that is not on this host, or was not seen,
/// is `nil`.
package struct CapturedEnds: Equatable, Sendable {
    /// The socket of one end. Once it is gone, its queues are unknown, but its owner is kept.
    package struct End: Equatable, Sendable {
        package var host: HostSnapshot
        package var kernel: KernelSnapshot?
        package var descriptor: Int32?

        package init(host: HostSnapshot) { self.host = host }

        /// Returns `nil` if the row is not a socket of another program.
        package init?(_ row: SocketSnapshot) {
            guard let host = row.host else { return nil }
            (self.host, kernel, descriptor) = (host, row.kernel, row.descriptor)
        }

        /// This end once the kernel no longer lists it.
        package var gone: End {
            var end = self
            (end.host.unread, end.host.unsent, end.host.tcp, end.kernel) = (nil, nil, nil, nil)
            (end.host.asks, end.host.asksFor, end.host.asksWords) = (nil, nil, nil)
            end.host.verdicts = []
            return end
        }
    }

    @Rare package var local: End? = nil
    @Rare package var peer: End? = nil

    package init(local: End? = nil, peer: End? = nil) { (self.local, self.peer) = (local, peer) }

    /// The verdicts about both ends, with each lint listed once.
    package var verdicts: [Verdict] {
        let here = local?.host.verdicts ?? []
        let there = peer?.host.verdicts ?? []
        return here + there.filter { found in !here.contains { $0.lint == found.lint } }
    }
}

extension SocketSnapshot {
    /// Whether it is a captured connection whose questions and answers are known.
    package var isCapturedTalk: Bool { ends != nil && exchanges != nil }
}
