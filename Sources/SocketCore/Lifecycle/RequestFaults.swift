extension ReadRequest {
    /// The total number of bytes, or `nil` if it is unknown.
    package var total: Int? { kind.total }

    /// Why this read is invalid, or `nil` if it is valid.
    package var fault: SocketError? {
        if let timeout, timeout < .zero {
            return Self.fault("timeout \(timeout): must not be negative; nil means none")
        }
        if let fault = lendingFault { return fault }
        guard let flaw = kind.flaw else { return nil }
        return Self.fault("\(flaw.part.rawValue)\(flaw.value.map { " \($0)" } ?? ""): \(flaw.message)")
    }

    /// Whether it is valid and neither a standing read nor a frame. Does not build the error text.
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
    /// Why this write is invalid, or `nil` if it is valid.
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
