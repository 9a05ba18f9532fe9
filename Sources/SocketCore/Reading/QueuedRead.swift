/// A read that was asked for, in the form in which it waits: `ReadRequest` with its name, packed.
struct QueuedRead {
    /// What it waits for.
    let kind: ReadRequest.Kind
    /// Whether it stays after it completed.
    let isStanding: Bool
    /// Whether its bytes are shown where they are, not handed over.
    let lendsBytes: Bool
    /// How long it may be the one in hand.
    var limit: TimeLimit
    /// The caller's number.
    let tag: Int
    /// Its name within the engine.
    let operation: OperationID

    /// Packs a request. Traps on one that could never complete: whoever queues it has to refuse it before.
    init(_ request: ReadRequest, as operation: OperationID) {
        switch request.kind {
        case .available(let limit): precondition(limit ?? 1 > 0, "read \(operation): limit of \(limit ?? 0) bytes")
        case .length(let length): precondition(length > 0, "read \(operation): length of \(length) bytes")
        case .delimiter(let terminator, let limit):
            precondition(!terminator.isEmpty, "read \(operation): empty delimiter")
            precondition(limit ?? .max >= terminator.count, "read \(operation): limit shorter than the delimiter")
        case .frame(let prefix):
            precondition(
                prefix.offset >= 0 && prefix.limit >= prefix.headerLength, "read \(operation): limit within the header")
        }
        kind = request.kind
        isStanding = request.isStanding
        lendsBytes = request.lendsBytes
        limit = TimeLimit(request.timeout)
        tag = request.tag
        self.operation = operation
    }

    /// Bytes in all; nil where that is not known.
    var total: Int? { ReadRequest(kind).total }

    /// The failure of this read, which had got these bytes.
    func failed(_ error: SocketError, with bytes: [UInt8] = []) -> FailedOperation {
        FailedOperation(
            operation: operation, kind: .read(kind), tag: tag, done: bytes.count, total: total, bytes: bytes,
            isStanding: isStanding, error: error)
    }

    /// This read as it is shown while it waits.
    var snapshot: OperationSnapshot {
        OperationSnapshot(
            id: operation, kind: .read(kind), tag: tag, total: total, isStanding: isStanding, timeout: limit.duration)
    }
}

extension QueuedRead {
    /// The sentence of the error for a delimiter read whose limit was reached.
    var overrunDetail: String {
        switch kind {
        case .delimiter(let terminator, let limit):
            "no delimiter \(QueuedRead.escaped(terminator)) within the limit of \(limit ?? 0) bytes"
        case .frame(let prefix):
            "the frame's length is not within \(prefix.headerLength) (its header) and \(prefix.limit) bytes (the limit)"
        case .available, .length:
            "the limit was reached"
        }
    }

    /// Bytes as a person reads them: printable ASCII as it is, the rest escaped, cut after 16.
    private static func escaped(_ bytes: [UInt8]) -> String {
        let shown = bytes.prefix(16).map { byte in
            switch byte {
            case 0x0D: "\\r"
            case 0x0A: "\\n"
            case 0x22, 0x5C: "\\\(Character(UnicodeScalar(byte)))"
            case 0x20...0x7E: String(UnicodeScalar(byte))
            default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return "\"\(shown.joined())\(bytes.count > 16 ? "..." : "")\""
    }
}
