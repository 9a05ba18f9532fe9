/// Names one session of a socket (one connect, accept or listen) within its engine.
///
/// Every session gets a new number, so an answer that comes late can never hit the session that followed.
public struct SocketID: Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
    /// The number, counted from 1 in the order in which the engine opened its sessions.
    public let number: UInt64

    /// Names the session with this number.
    public init(_ number: UInt64) {
        self.number = number
    }

    /// Reads the bare number.
    public init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(UInt64.self)
    }

    /// Writes the bare number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }

    /// Older sessions come first.
    public static func < (left: SocketID, right: SocketID) -> Bool {
        left.number < right.number
    }

    /// As the screen writes it: `#7`.
    public var description: String { "#\(label)" }
}

/// Names one queued read or write within its engine; never used twice.
public struct OperationID: Hashable, Sendable, Codable, Comparable {
    /// The number, counted from 1 in the order in which operations were queued.
    public let number: UInt64

    /// Names the operation with this number.
    public init(_ number: UInt64) {
        self.number = number
    }

    /// Reads the bare number.
    public init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(UInt64.self)
    }

    /// Writes the bare number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }

    /// Operations queued earlier come first.
    public static func < (left: OperationID, right: OperationID) -> Bool {
        left.number < right.number
    }
}
