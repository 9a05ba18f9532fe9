import Foundation

/// The short bytes that the delegate gets on this thread right now, as `Data` and as the array that they came in.
///
/// A `Data` of its own for each read, and an array of its own for each write, would be half of what these classes cost. So
/// a thread fills the `Data` of its last read again, and what a delegate passes on as it came is not copied.
///
/// Proof: only its thread has the pointer to a value of this type, and the thread's end frees it. `Data` makes a copy before
/// it changes bytes that somebody else holds too: whoever kept the `Data` of an earlier read keeps its bytes, and nobody
/// changes those of the present one, which `pass` holds until the delegate has returned. `pass` also outlasts `bytes`, which
/// is in its frame. `Data` with the same words as another that exists is the same data, in the same memory.
struct PassingData {
    private typealias Words = (UInt, UInt)

    private var spare = Data()
    private var words = Words(0, 0)
    private var bytes: UnsafePointer<[UInt8]>?

    /// Calls `body` with bytes that were read.
    @inline(__always)
    static func pass(_ bytes: [UInt8], to body: (Data) -> Void) {
        guard bytes.count < Data.leastLent, let memory = ofThread ?? make() else {
            return body(Data(handingOver: bytes))
        }
        var data = Data()
        swap(&data, &memory.pointee.spare)
        data.fill(bytes)
        withUnsafePointer(to: bytes) { place in
            (memory.pointee.words, memory.pointee.bytes) = (words(of: data), place)
            body(data)
        }
        // Also where more callbacks came while this one ran: then what it still passes on is copied.
        memory.pointee.bytes = nil
        swap(&data, &memory.pointee.spare)
    }

    /// The array that this data came in, if the delegate got it on this thread and has not returned.
    @inline(__always)
    static func array(of data: Data) -> [UInt8]? {
        guard let memory = ofThread, let bytes = memory.pointee.bytes else { return nil }
        return words(of: data) == memory.pointee.words ? bytes.pointee : nil
    }

    @inline(__always)
    private static func words(of data: Data) -> Words {
        withUnsafeBytes(of: data) { $0.loadUnaligned(as: Words.self) }
    }

    // MARK: Threads

    /// Where each thread has its own; one that is never valid where the system has no more.
    private static let key = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key) { memory in
            let memory = memory?.assumingMemoryBound(to: PassingData.self)
            memory?.deinitialize(count: 1)
            memory?.deallocate()
        }
        return result == 0 ? key : .max
    }()

    private static var ofThread: UnsafeMutablePointer<PassingData>? {
        @inline(__always) get {
            pthread_getspecific(key)?.assumingMemoryBound(to: PassingData.self)
        }
    }

    private static func make() -> UnsafeMutablePointer<PassingData>? {
        let memory = UnsafeMutablePointer<PassingData>.allocate(capacity: 1)
        memory.initialize(to: PassingData())
        if pthread_setspecific(key, memory) == 0 { return memory }
        memory.deinitialize(count: 1)
        memory.deallocate()
        return nil
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
