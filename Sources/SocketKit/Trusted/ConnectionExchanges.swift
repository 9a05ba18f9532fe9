import SocketCore

/// The questions and answers of a connection of an engine that is inspected, from its first byte on. Overlapping accesses
/// are checked in debug builds only: the checks took half of the instructions of a step.
///
/// Proof: it is used on the engine's queue only, by `Connection`, and a tally calls no code but its own.
final class ConnectionExchanges {
    #if DEBUG
    final var tally: ExchangeTally
    #else
    @exclusivity(unchecked) final var tally: ExchangeTally
    #endif
    /// Whether plaintext is counted, because TLS has begun.
    var isSecure: Bool

    init(_ tally: ExchangeTally, isSecure: Bool) { (self.tally, self.isSecure) = (tally, isSecure) }
}
