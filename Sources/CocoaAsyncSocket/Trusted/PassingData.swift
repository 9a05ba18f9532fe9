import CSocketKitSystem
import Foundation
import SocketKit
import Synchronization

/// The short bytes that the delegate gets on this thread right now, as `Data` and as the array that they came in.
///
/// The engine uses its arrays of short reads again. The `Data` made of them is used again here, so that a delegate
/// that does not keep it costs no allocation. A delegate that sends on what it gets, as an echo does, sends that
/// array, without a copy. What a delegate asks of the socket that it hears of goes to the engine's socket that the
/// callback came from, without the lock.
///
/// Proof: only its thread has the pointer to the memory, and the thread's end frees it. `Data` makes a copy before it
/// changes bytes that somebody else holds too: a delegate that kept the `Data` of an earlier read keeps its bytes,
/// and nobody changes those of the present one, which `pass` holds until the delegate has returned. `pass` also
/// outlasts `bytes`, which is in its frame, and the engine's socket, which it is called with; what the delegate calls
/// ends before. `Data` with the same words as another that exists is the same data, in the same memory.
struct PassingData {
    private typealias Words = (UInt, UInt)

    private struct Memory {
        var spare = Data()
        var words = Words(0, 0)
        var bytes: UnsafePointer<[UInt8]>?
        /// Whose bytes they are.
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
        // Also where more callbacks came while this one ran: then what it still passes on is copied.
        (memory.pointee.bytes, memory.pointee.socket) = (nil, nil)
        swap(&data, &memory.pointee.spare)
    }

    /// Calls `body` with the engine's socket whose bytes the delegate gets on this thread, if it is the present one
    /// of its owner; false: it is not, or there is none.
    @inline(__always)
    static func call(with present: PresentStream, _ body: (AsyncSocket, Self) -> Void) -> Bool {
        guard let passing = ofThread, let socket = passing.memory.pointee.socket,
            present.address == UInt(bitPattern: socket.toOpaque())
        else { return false }
        socket._withUnsafeGuaranteedRef { body($0, passing) }
        return true
    }

    /// The array that this data came in, if it is what the delegate gets on this thread.
    static func array(of data: Data) -> [UInt8]? { ofThread?.array(of: data) }

    /// The same, where the thread's own was looked up.
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

    /// Frees a thread's own at its end; one that is never valid where the system has no more keys.
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
    /// Puts these bytes in the place of its own. Nothing is allocated where it has as many, and nobody else holds them.
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

/// Which engine's socket a GCDAsyncSocket has as its stream, for a look without its lock.
final class PresentStream: Sendable {
    private let word = Atomic<UInt>(0)

    /// The address of the socket; 0: there is none.
    @inline(__always)
    fileprivate var address: UInt { word.load(ordering: .acquiring) }

    /// Under the lock of the owner's state.
    func change(to socket: AsyncSocket?) {
        let address = socket.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0
        word.store(address, ordering: .releasing)
    }
}
