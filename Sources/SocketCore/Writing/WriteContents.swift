/// Contiguous bytes of somebody else, such as those of a Foundation `Data`, that are written where they lie.
///
/// They must not change, in number nor in value, until the write has completed or failed. The owner is released
/// after that, where user code may run.
public protocol ContiguousBytesOwner: AnyObject, Sendable {
    /// How many bytes there are.
    var byteCount: Int { get }
    /// Calls `body` once with all of them. Called on the engine's queue, as often as the socket takes bytes.
    func withBytes(_ body: (UnsafeRawBufferPointer) -> Void)
}

/// The bytes of a write: an array, or what somebody else owns.
package struct WriteContents: Sendable {
    /// Bytes of our own; none where somebody else owns them.
    package let bytes: [UInt8]
    /// Bytes of somebody else.
    package let owned: OwnedBytes?

    /// Bytes of our own.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        owned = nil
    }

    /// Bytes of somebody else.
    package init(_ owned: OwnedBytes) {
        bytes = []
        self.owned = owned
    }

    /// How many bytes there are.
    package var count: Int { owned?.count ?? bytes.count }

    /// The bytes as an array: a copy of those that somebody else owns.
    package var array: [UInt8] { owned == nil ? bytes : part(0..<count) }

    /// A copy of some of them.
    package func part(_ range: Range<Int>) -> [UInt8] {
        var part: [UInt8] = []
        withBytes { part = [UInt8](UnsafeRawBufferPointer(rebasing: $0[range.clamped(to: 0..<$0.count)])) }
        return part
    }

    /// Some of them to be kept, and how many bytes of memory that keeps: a copy where somebody else owns them.
    package func kept(_ range: Range<Int>) -> (part: ArraySlice<UInt8>, whole: Int) {
        guard owned == nil else {
            let copy = part(range)
            return (copy[...], copy.count)
        }
        return (bytes[range.clamped(to: 0..<bytes.count)], bytes.count)
    }

    /// Calls `body` with all of them, where they lie.
    package func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
        if let owned { owned.withBytes(body) } else { bytes.withUnsafeBytes(body) }
    }
}

extension WriteContents: Equatable {
    /// Whether both are the same bytes, whoever owns them.
    package static func == (one: WriteContents, other: WriteContents) -> Bool { one.array == other.array }
}

/// Bytes of somebody else, whose number was read once.
package final class OwnedBytes: Sendable {
    /// How many bytes there are.
    package let count: Int
    private let owner: any ContiguousBytesOwner

    /// Reads their number.
    package init(_ owner: any ContiguousBytesOwner) {
        self.owner = owner
        count = owner.byteCount
    }

    /// Calls `body` with the bytes. Traps when their number has changed.
    package func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
        owner.withBytes { bytes in
            precondition(bytes.count == count, "a write of \(count) bytes has \(bytes.count) now: they must not change")
            body(bytes)
        }
    }
}
