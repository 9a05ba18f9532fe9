import InspectorCore

extension Shared {
    /// Whether everything listed was captured on an interface.
    package var showsCapture: Bool { !programs.isEmpty && programs.allSatisfy(\.isCapture) }

    /// Whether everything listed belongs to other programs and is inspected from outside.
    package var showsHost: Bool { !programs.isEmpty && programs.allSatisfy(\.isOutside) }

    /// What the list shows.
    package var listKind: ListKind {
        if showsHost { return .host }
        return showsCapture ? .captured : summary.kind
    }

    /// The number of packets that the kernel lost.
    var droppedPackets: UInt64 { programs.reduce(0) { $0.saturatingAdd($1.dropped ?? 0) } }
}
