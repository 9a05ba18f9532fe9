extension ReadRequest {
    /// Bytes in all; nil where that is not known.
    package var total: Int? { kind.total }

    /// Why this read can never be carried out; nil when it can.
    package var fault: SocketError? {
        if let timeout, timeout < .zero {
            return Self.fault("timeout \(timeout): must not be negative; nil means none")
        }
        if let fault = lendingFault { return fault }
        guard let flaw = kind.flaw else { return nil }
        return Self.fault("\(flaw.part.rawValue)\(flaw.value.map { " \($0)" } ?? ""): \(flaw.message)")
    }

    /// Whether it is without fault, not standing and no frame, told without the words of what would be wrong.
    @inline(__always)
    var isPlain: Bool {
        guard !isStanding, !lendsBytes, timeout.map({ $0 >= .zero }) ?? true, kind.isValid else { return false }
        if case .frame = kind { return false }
        return true
    }

    private var lendingFault: SocketError? {
        guard lendsBytes else { return nil }
        if isStanding, kind.canLend { return nil }
        return Self.fault("lendsBytes: only a standing read of kind available or delimiter can lend its bytes")
    }

    private static func fault(_ detail: String) -> SocketError {
        SocketError(.badParameter, operation: "read", detail: detail)
    }
}

extension WriteRequest {
    /// Why this write can never be carried out; nil when it can.
    package var fault: SocketError? {
        if let timeout, timeout < .zero {
            return SocketError(
                .badParameter, operation: "write",
                detail: "timeout \(timeout): must not be negative; nil means none")
        }
        guard bytes.isEmpty else { return nil }
        return SocketError(.badParameter, operation: "write", detail: "bytes: must hold at least one byte")
    }
}
