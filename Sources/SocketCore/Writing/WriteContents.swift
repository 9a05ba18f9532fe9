/// Contiguous bytes that the caller owns, such as those of a Foundation `Data`, written without a copy.
///
/// They must not change, in number or in value, until the write has completed or failed. The owner is released after
/// that, where user code may run.
public protocol ContiguousBytesOwner: AnyObject, Sendable {
    /// The number of bytes.
    var byteCount: Int { get }
    /// Calls `body` once with all the bytes. Called on the engine's queue each time the socket accepts bytes.
    func withBytes(_ body: (UnsafeRawBufferPointer) -> Void)
}

/// The bytes of a write: an array, or the bytes of a `ContiguousBytesOwner`. It is one word, because each write is
/// copied a few times.
@usableFromInline package struct WriteContents: Sendable {
    @usableFromInline enum Storage: Sendable {
        case array([UInt8])
        case owned(OwnedBytes)
    }

    @usableFromInline let storage: Storage

    /// Holds an array.
    @inlinable package init(_ bytes: [UInt8]) { storage = .array(bytes) }

    /// Holds bytes that the caller owns.
    @inlinable package init(_ owned: OwnedBytes) { storage = .owned(owned) }

    /// The array, or an empty one if the caller owns the bytes.
    @inlinable package var bytes: [UInt8] { if case .array(let bytes) = storage { bytes } else { [] } }

    /// The bytes that the caller owns, or `nil` if they are in an array.
    @inlinable package var owned: OwnedBytes? { if case .owned(let owned) = storage { owned } else { nil } }

    /// Moves the array out, or returns an empty one if the caller owns the bytes.
    @inlinable package consuming func takeBytes() -> [UInt8] {
        if case .array(let bytes) = storage { bytes } else { [] }
    }

    /// The number of bytes.
    @inlinable package var count: Int {
        switch storage {
        case .array(let bytes): bytes.count
        case .owned(let owned): owned.count
        }
    }

    /// The bytes as an array, copied if the caller owns them.
    package var array: [UInt8] { if case .array(let bytes) = storage { bytes } else { part(0..<count) } }

    /// Returns a copy of the bytes in `range`.
    package func part(_ range: Range<Int>) -> [UInt8] {
        var part: [UInt8] = []
        withBytes { part = [UInt8](UnsafeRawBufferPointer(rebasing: $0[range.clamped(to: 0..<$0.count)])) }
        return part
    }

    /// Returns the bytes in `range` for keeping, and how many bytes of memory they retain. They are copied if the
    /// caller owns them.
    package func kept(_ range: Range<Int>) -> (part: ArraySlice<UInt8>, whole: Int) {
        guard case .array(let bytes) = storage else {
            let copy = part(range)
            return (copy[...], copy.count)
        }
        return (bytes[range.clamped(to: 0..<bytes.count)], bytes.count)
    }

    /// Calls `body` with all the bytes, in place.
    package func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
        switch storage {
        case .array(let bytes): bytes.withUnsafeBytes(body)
        case .owned(let owned): owned.withBytes(body)
        }
    }
}

extension WriteContents: Equatable {
    /// Whether both have the same bytes, wherever they are stored.
    @usableFromInline package static func == (one: WriteContents, other: WriteContents) -> Bool {
        one.array == other.array
    }
}

/// Bytes that the caller owns. Their number is read once.
@usableFromInline package final class OwnedBytes: Sendable {
    /// The number of bytes.
    @usableFromInline package let count: Int
    private let owner: any ContiguousBytesOwner

    /// Reads the number of bytes.
    package init(_ owner: any ContiguousBytesOwner) {
        self.owner = owner
        count = owner.byteCount
    }

    /// Calls `body` with the bytes. Traps if their number has changed.
    package func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
        owner.withBytes { bytes in
            precondition(bytes.count == count, "a write of \(count) bytes now has \(bytes.count): they must not change")
            body(bytes)
        }
    }
}
