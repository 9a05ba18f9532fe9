extension ReadRequest {
    /// Bytes in all; nil where that is not known.
    package var total: Int? {
        switch kind {
        case .length(let count): count
        case .available, .delimiter, .frame: nil
        }
    }

    /// Why this read can never be carried out; nil when it can.
    package var fault: SocketError? {
        if let timeout, timeout < .zero {
            return Self.fault("timeout \(timeout): must not be negative; nil means none")
        }
        if let fault = lendingFault { return fault }
        switch kind {
        case .available(let limit):
            guard let limit, limit < 1 else { return nil }
            return Self.fault("limit \(limit): must be at least 1; nil means none")
        case .length(let count):
            return count < 1 ? Self.fault("length \(count): must be at least 1") : nil
        case .delimiter(let terminator, let limit):
            if terminator.isEmpty { return Self.fault("delimiter: must hold at least one byte") }
            guard let limit, limit < terminator.count else { return nil }
            return Self.fault("limit \(limit): must be at least the delimiter's \(terminator.count) bytes")
        case .frame(let prefix):
            if !(0...65_536).contains(prefix.offset) {
                return Self.fault("offset \(prefix.offset): must be 0 to 65536")
            }
            guard prefix.limit < prefix.headerLength else { return nil }
            return Self.fault("limit \(prefix.limit): must be at least the header's \(prefix.headerLength) bytes")
        }
    }

    /// Whether it is without fault, not standing and no frame, told without the words of what would be wrong.
    var isPlain: Bool {
        guard !isStanding, !lendsBytes, timeout.map({ $0 >= .zero }) ?? true else { return false }
        switch kind {
        case .available(let limit): return limit ?? 1 > 0
        case .length(let length): return length > 0
        case .delimiter(let terminator, let limit): return !terminator.isEmpty && limit ?? .max >= terminator.count
        case .frame: return false
        }
    }

    private var lendingFault: SocketError? {
        guard lendsBytes else { return nil }
        switch kind {
        case .available where isStanding, .delimiter where isStanding: return nil
        case .available, .delimiter, .length, .frame:
            return Self.fault("lendsBytes: only a standing read of kind available or delimiter can lend its bytes")
        }
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
