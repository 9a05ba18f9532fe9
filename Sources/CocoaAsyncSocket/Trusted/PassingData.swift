import CSocketKitSystem
import Foundation
import SocketKit
import Synchronization

/// The short read that is being delivered on this thread, as `Data` and as the array that it arrived in.
///
/// The engine reuses its arrays for short reads. The `Data` made from them is reused here, so delivery does not
/// allocate unless the delegate keeps it. If the delegate sends the data on, as an echo server does, the array is sent
/// without a copy. Calls that the delegate makes on the socket that it is called for go to the engine's socket without
/// the lock.
///
/// Proof: only its thread has the pointer to the memory, and the thread's end frees it. `Data` copies its bytes before
/// a change if anything else retains them, so a delegate that kept the `Data` of an earlier read keeps its bytes. The
/// bytes of the current read do not change, because `pass` retains them until the delegate returns. `pass` also
/// outlasts `bytes`, which is in its frame, and the engine's socket, which it is called with. Everything that the
/// delegate calls ends before that. If a `Data` has the same words as another existing one, it is the same data in the
/// same memory.
struct PassingData {
    private typealias Words = (UInt, UInt)

    private struct Memory {
        var spare = Data()
        var words = Words(0, 0)
        var bytes: UnsafePointer<[UInt8]>?
        /// The socket that received the bytes.
        var socket: Unmanaged<AsyncSocket>?
    }

    private let memory: UnsafeMutablePointer<Memory>

    /// Calls `body` with bytes that were read.
    @inline(__always)
    static func pass(_ bytes: [UInt8], of socket: AsyncSocket, to body: (Data) -> Void) {
        guard bytes.count < Data.leastLent, let memory = (ofThread ?? make())?.memory else {
            return body(Data(handingOver: bytes))
        }
        var data = Data()
        swap(&data, &memory.pointee.spare)
        data.fill(bytes)
        withUnsafePointer(to: bytes) { place in
            (memory.pointee.words, memory.pointee.bytes) = (words(of: data), place)
            memory.pointee.socket = .passUnretained(socket)
            body(data)
        }
        // Also if other callbacks ran inside this one. Data that this one still sends is then copied.
        (memory.pointee.bytes, memory.pointee.socket) = (nil, nil)
        swap(&data, &memory.pointee.spare)
    }

    /// Calls `body` with the engine's socket whose bytes are being delivered on this thread. Returns `false` if there
    /// is none, or if it is not its owner's current stream.
    @inline(__always)
    static func call(with present: PresentStream, _ body: (AsyncSocket, Self) -> Void) -> Bool {
        guard let passing = ofThread, let socket = passing.memory.pointee.socket,
            present.address == UInt(bitPattern: socket.toOpaque())
        else { return false }
        socket._withUnsafeGuaranteedRef { body($0, passing) }
        return true
    }

    /// Returns the array that this data arrived in, if it is being delivered on this thread.
    static func array(of data: Data) -> [UInt8]? { ofThread?.array(of: data) }

    /// Returns the array that this data arrived in, without looking up the thread's memory again.
    @inline(__always)
    func array(of data: Data) -> [UInt8]? {
        guard let bytes = memory.pointee.bytes else { return nil }
        return Self.words(of: data) == memory.pointee.words ? bytes.pointee : nil
    }

    @inline(__always)
    private static func words(of data: Data) -> Words {
        withUnsafeBytes(of: data) { $0.loadUnaligned(as: Words.self) }
    }

    // MARK: Threads

    private static var ofThread: PassingData? {
        @inline(__always) get {
            csystem_thread_word().map { PassingData(memory: $0.assumingMemoryBound(to: Memory.self)) }
        }
    }

    /// The key that frees a thread's memory when the thread ends, or an invalid key if the system has no more.
    private static let key = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key) { memory in
            csystem_set_thread_word(nil)
            if let memory { PassingData(memory: memory.assumingMemoryBound(to: Memory.self)).free() }
        }
        return result == 0 ? key : .max
    }()

    private static func make() -> PassingData? {
        let passing = PassingData(memory: .allocate(capacity: 1))
        passing.memory.initialize(to: Memory())
        if pthread_setspecific(key, passing.memory) == 0 {
            csystem_set_thread_word(passing.memory)
            return passing
        }
        passing.free()
        return nil
    }

    private func free() {
        memory.deinitialize(count: 1)
        memory.deallocate()
    }
}

extension Data {
    /// Replaces the contents with these bytes. Doesn't allocate if the length is the same and nothing else retains
    /// them.
    @inline(__always)
    fileprivate mutating func fill(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { memory in
            if count == memory.count {
                withUnsafeMutableBytes { $0.copyMemory(from: memory) }
            } else {
                self = Data(copying: memory)
            }
        }
    }
}

/// The engine's socket that a GCDAsyncSocket has as its stream, readable without its lock.
final class PresentStream: Sendable {
    private let word = Atomic<UInt>(0)

    /// The address of the socket, or 0 if there is none.
    @inline(__always)
    fileprivate var address: UInt { word.load(ordering: .acquiring) }

    /// Must be called under the lock of the owner's state.
    func change(to socket: AsyncSocket?) {
        let address = socket.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0
        word.store(address, ordering: .releasing)
    }
}
