extension Shared {
    /// Whether everything listed was captured on an interface.
    package var showsCapture: Bool { !programs.isEmpty && programs.allSatisfy(\.isCapture) }

    /// The number of packets that the kernel lost.
    var droppedPackets: UInt64 { programs.reduce(0) { $0.saturatingAdd($1.dropped ?? 0) } }
}
