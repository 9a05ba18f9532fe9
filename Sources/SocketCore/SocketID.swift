/// Identifies one session of a socket (one connect, accept or listen) within its engine.
///
/// Every session gets a new number, so a late answer can never reach the session that followed.
public struct SocketID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number, counted from 1 in the order in which the engine opened its sessions.
    public let number: UInt64

    /// Creates the identifier with this number.
    public init(_ number: UInt64) {
        self.number = number
    }

    /// Orders older sessions first.
    public static func < (left: SocketID, right: SocketID) -> Bool {
        left.number < right.number
    }

    /// The form used on the screen: `#7`.
    public var description: String { "#\(label)" }
}

/// Identifies one queued read or write within its engine. It is never reused.
public struct OperationID: Hashable, Sendable, Comparable {
    /// The number, counted from 1 in the order in which operations were queued.
    public let number: UInt64

    /// Creates the identifier with this number.
    public init(_ number: UInt64) {
        self.number = number
    }

    /// Orders earlier operations first.
    public static func < (left: OperationID, right: OperationID) -> Bool {
        left.number < right.number
    }
}
