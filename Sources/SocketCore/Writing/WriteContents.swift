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

/// The bytes of a write: an array, or what somebody else owns. One word, since each write is copied a few times.
@usableFromInline package struct WriteContents: Sendable {
    @usableFromInline enum Storage: Sendable {
        case array([UInt8])
        case owned(OwnedBytes)
    }

    @usableFromInline let storage: Storage

    /// Bytes of our own.
    @inlinable package init(_ bytes: [UInt8]) { storage = .array(bytes) }

    /// Bytes of somebody else.
    @inlinable package init(_ owned: OwnedBytes) { storage = .owned(owned) }

    /// Bytes of our own; none where somebody else owns them.
    @inlinable package var bytes: [UInt8] { if case .array(let bytes) = storage { bytes } else { [] } }

    /// Bytes of somebody else.
    @inlinable package var owned: OwnedBytes? { if case .owned(let owned) = storage { owned } else { nil } }

    /// The bytes of our own, moved out; none where somebody else owns them.
    @inlinable package consuming func takeBytes() -> [UInt8] {
        if case .array(let bytes) = storage { bytes } else { [] }
    }

    /// How many bytes there are.
    @inlinable package var count: Int {
        switch storage {
        case .array(let bytes): bytes.count
        case .owned(let owned): owned.count
        }
    }

    /// The bytes as an array: a copy of those that somebody else owns.
    package var array: [UInt8] { if case .array(let bytes) = storage { bytes } else { part(0..<count) } }

    /// A copy of some of them.
    package func part(_ range: Range<Int>) -> [UInt8] {
        var part: [UInt8] = []
        withBytes { part = [UInt8](UnsafeRawBufferPointer(rebasing: $0[range.clamped(to: 0..<$0.count)])) }
        return part
    }

    /// Some of them to be kept, and how many bytes of memory that keeps: a copy where somebody else owns them.
    package func kept(_ range: Range<Int>) -> (part: ArraySlice<UInt8>, whole: Int) {
        guard case .array(let bytes) = storage else {
            let copy = part(range)
            return (copy[...], copy.count)
        }
        return (bytes[range.clamped(to: 0..<bytes.count)], bytes.count)
    }

    /// Calls `body` with all of them, where they lie.
    package func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
        switch storage {
        case .array(let bytes): bytes.withUnsafeBytes(body)
        case .owned(let owned): owned.withBytes(body)
        }
    }
}

extension WriteContents: Equatable {
    /// Whether both are the same bytes, whoever owns them.
    @usableFromInline package static func == (one: WriteContents, other: WriteContents) -> Bool {
        one.array == other.array
    }
}

/// Bytes of somebody else, whose number was read once.
@usableFromInline package final class OwnedBytes: Sendable {
    /// How many bytes there are.
    @usableFromInline package let count: Int
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
