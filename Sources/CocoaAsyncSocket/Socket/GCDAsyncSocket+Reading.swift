import Foundation
import SocketKit

/// Reading. Each call queues one read. It does nothing, without a word, on a socket that is not in use or was told to
/// disconnect after something, and where an argument makes no sense.
///
/// Where a buffer is given, the bytes go into it from the offset on, before the delegate is called; it grows where it has
/// to. Nobody may change it until then. The data that the delegate gets has the same bytes in memory of its own, so that it
/// stays when the buffer changes.
extension GCDAsyncSocket {
    /// Reads the first bytes that come.
    public func readData(withTimeout timeout: TimeInterval, tag: Int) {
        // Nothing about it can be wrong.
        withStream { $0.read(ReadRequest(.available(limit: nil), timeout: Duration(timeout: timeout), tag: tag)) }
    }

    /// Reads the first bytes that come, into a buffer; nil: as without one. An offset behind the buffer's end is refused.
    public func readData(
        withTimeout timeout: TimeInterval, buffer: NSMutableData?, bufferOffset offset: UInt, tag: Int
    ) {
        read(.available(limit: nil), timeout, tag, buffer, offset)
    }

    /// The same, at most `length` bytes; 0: as many as there are.
    public func readData(
        withTimeout timeout: TimeInterval, buffer: NSMutableData?, bufferOffset offset: UInt, maxLength length: UInt,
        tag: Int
    ) {
        read(.available(limit: length.limit), timeout, tag, buffer, offset)
    }

    /// Reads exactly so many bytes; 0 is refused.
    public func readData(toLength length: UInt, withTimeout timeout: TimeInterval, tag: Int) {
        guard length > 0 else { return }
        withStream {
            $0.read(ReadRequest(.length(Int(clamping: length)), timeout: Duration(timeout: timeout), tag: tag))
        }
    }

    /// The same, into a buffer.
    public func readData(
        toLength length: UInt, withTimeout timeout: TimeInterval, buffer: NSMutableData?, bufferOffset offset: UInt,
        tag: Int
    ) {
        read(.length(Int(clamping: length)), timeout, tag, buffer, offset)
    }

    /// Reads up to and including a separator; nil or an empty one is refused.
    public func readData(to data: Data?, withTimeout timeout: TimeInterval, tag: Int) {
        read(.delimiter([UInt8](data ?? Data()), limit: nil), timeout, tag)
    }

    /// The same, into a buffer.
    public func readData(
        to data: Data, withTimeout timeout: TimeInterval, buffer: NSMutableData?, bufferOffset offset: UInt, tag: Int
    ) {
        read(.delimiter([UInt8](data), limit: nil), timeout, tag, buffer, offset)
    }

    /// Reads up to and including a separator, within `length` bytes; 0: without a limit. Where these bytes do not hold the
    /// separator, the socket disconnects with `readMaxedOutError`. A limit less than the separator is refused.
    public func readData(to data: Data, withTimeout timeout: TimeInterval, maxLength length: UInt, tag: Int) {
        read(.delimiter([UInt8](data), limit: length.limit), timeout, tag)
    }

    /// The same, into a buffer.
    public func readData(
        to data: Data, withTimeout timeout: TimeInterval, buffer: NSMutableData?, bufferOffset offset: UInt,
        maxLength length: UInt, tag: Int
    ) {
        read(.delimiter([UInt8](data), limit: length.limit), timeout, tag, buffer, offset)
    }

    private func read(_ kind: ReadRequest.Kind, _ timeout: TimeInterval, _ tag: Int) {
        guard kind.isAllowed else { return }
        withStream { $0.read(ReadRequest(kind, timeout: Duration(timeout: timeout), tag: tag)) }
    }

    private func read(
        _ kind: ReadRequest.Kind, _ timeout: TimeInterval, _ tag: Int, _ buffer: NSMutableData?, _ offset: UInt
    ) {
        // Without a buffer, it counts as an empty one.
        guard let buffer else {
            if offset == 0 { read(kind, timeout, tag) }
            return
        }
        guard kind.isAllowed, let place = ReadBuffer(buffer, offset: offset) else { return }
        session?.read(ReadRequest(kind, timeout: Duration(timeout: timeout), tag: tag), into: place)
    }

    /// How far the current read is, from 0 to 1; NaN without one. It is 1, of 0 bytes in total, where the read has no
    /// length. The pointers get the tag, the bytes that are there, and those in total.
    public func progressOfRead(
        returningTag tagPtr: UnsafeMutablePointer<Int>?, bytesDone donePtr: UnsafeMutablePointer<UInt>?,
        total totalPtr: UnsafeMutablePointer<UInt>?
    ) -> Float {
        progress(stream?.snapshot()?.reading.current, tagPtr, donePtr, totalPtr)
    }

    /// How far the current write is, likewise.
    public func progressOfWrite(
        returningTag tagPtr: UnsafeMutablePointer<Int>?, bytesDone donePtr: UnsafeMutablePointer<UInt>?,
        total totalPtr: UnsafeMutablePointer<UInt>?
    ) -> Float {
        progress(stream?.snapshot()?.writing.current, tagPtr, donePtr, totalPtr)
    }

    private func progress(
        _ current: OperationSnapshot?, _ tag: UnsafeMutablePointer<Int>?, _ done: UnsafeMutablePointer<UInt>?,
        _ total: UnsafeMutablePointer<UInt>?
    ) -> Float {
        tag?.pointee = current?.tag ?? 0
        done?.pointee = UInt(current?.done ?? 0)
        total?.pointee = UInt(current?.total ?? 0)
        guard let current else { return .nan }
        guard let all = current.total, all > 0 else { return 1 }
        return Float(current.done) / Float(all)
    }

    /// Writes all of the data, after what is queued; nil or none does nothing. It is not copied, so it must not change
    /// until it is written.
    public func write(_ data: Data?, withTimeout timeout: TimeInterval, tag: Int) {
        let limit = Duration(timeout: timeout)
        switch data {
        case nil: return
        case let data?:
            if PassingData.call(with: present, { $0.write(data, in: $1.array(of: data), timeout: limit, tag: tag) }) {
                return
            }
            stream?.write(data, in: PassingData.array(of: data), timeout: limit, tag: tag)
        }
    }
}

extension AsyncSocket {
    /// Queues data, and the array that holds the same bytes, if there is one.
    @inline(__always)
    fileprivate func write(_ data: Data, in array: [UInt8]?, timeout: Duration?, tag: Int) {
        // Not `array ?? data.copyIfShort`, which counts the array once more.
        if let array {
            if !array.isEmpty { write(array, timeout: timeout, tag: tag) }
        } else if let bytes = data.copyIfShort {
            if !bytes.isEmpty { write(bytes, timeout: timeout, tag: tag) }
        } else {
            write(contentsOf: WrittenData(data), timeout: timeout, tag: tag)
        }
    }
}

extension ReadRequest.Kind {
    /// Whether upstream would queue it.
    fileprivate var isAllowed: Bool {
        switch self {
        case .available(let limit): limit ?? 1 > 0
        case .length(let length): length > 0
        case .delimiter(let separator, let limit): !separator.isEmpty && limit ?? .max >= separator.count
        case .frame: false
        }
    }
}

extension Data {
    /// Its bytes, where it costs less to copy them than to keep the data.
    fileprivate var copyIfShort: [UInt8]? {
        // A look at its length is as expensive as one at its bytes.
        bytes.withUnsafeBytes { $0.count < WrittenData.leastCount ? [UInt8]($0) : nil }
    }
}

extension UInt {
    /// A limit in upstream's form: 0 means none.
    fileprivate var limit: Int? { self == 0 ? nil : Int(clamping: self) }
}
