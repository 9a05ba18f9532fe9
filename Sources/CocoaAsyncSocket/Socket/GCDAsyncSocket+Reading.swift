import Foundation
import SocketKit

/// Reading and writing. Each call queues one read or write. It does nothing if the socket is not in use, will
/// disconnect after pending operations, or gets an invalid argument.
///
/// If a buffer is given, the bytes are written to it at the offset before the delegate is called, and it grows if
/// necessary. It must not be changed until then. The delegate's data is a separate copy, so it stays the same when the
/// buffer changes.
extension GCDAsyncSocket {
    /// Reads the first bytes that arrive.
    public func readData(withTimeout timeout: TimeInterval, tag: Int) {
        // This request is always valid.
        withStream { $0.read(ReadRequest(.available(limit: nil), timeout: Duration(timeout: timeout), tag: tag)) }
    }

    /// Reads the first bytes that arrive into a buffer, if there is one. An offset beyond the buffer's end is rejected.
    public func readData(
        withTimeout timeout: TimeInterval, buffer: NSMutableData?, bufferOffset offset: UInt, tag: Int
    ) {
        read(.available(limit: nil), timeout, tag, buffer, offset)
    }

    /// Reads the first bytes that arrive into a buffer: at most `length` bytes, or any number if it is 0.
    public func readData(
        withTimeout timeout: TimeInterval, buffer: NSMutableData?, bufferOffset offset: UInt, maxLength length: UInt,
        tag: Int
    ) {
        read(.available(limit: length.limit), timeout, tag, buffer, offset)
    }

    /// Reads exactly `length` bytes. A length of 0 is rejected.
    public func readData(toLength length: UInt, withTimeout timeout: TimeInterval, tag: Int) {
        guard length > 0 else { return }
        withStream {
            $0.read(ReadRequest(.length(Int(clamping: length)), timeout: Duration(timeout: timeout), tag: tag))
        }
    }

    /// Reads exactly `length` bytes into a buffer. A length of 0 is rejected.
    public func readData(
        toLength length: UInt, withTimeout timeout: TimeInterval, buffer: NSMutableData?, bufferOffset offset: UInt,
        tag: Int
    ) {
        read(.length(Int(clamping: length)), timeout, tag, buffer, offset)
    }

    /// Reads up to and including a separator. A separator that is `nil` or empty is rejected.
    public func readData(to data: Data?, withTimeout timeout: TimeInterval, tag: Int) {
        read(.delimiter([UInt8](data ?? Data()), limit: nil), timeout, tag)
    }

    /// Reads up to and including a separator, into a buffer. An empty separator is rejected.
    public func readData(
        to data: Data, withTimeout timeout: TimeInterval, buffer: NSMutableData?, bufferOffset offset: UInt, tag: Int
    ) {
        read(.delimiter([UInt8](data), limit: nil), timeout, tag, buffer, offset)
    }

    /// Reads up to and including a separator, within `length` bytes, or without a limit if it is 0. If these bytes
    /// don't contain the separator, the socket disconnects with `readMaxedOutError`. A limit shorter than the separator
    /// is rejected.
    public func readData(to data: Data, withTimeout timeout: TimeInterval, maxLength length: UInt, tag: Int) {
        read(.delimiter([UInt8](data), limit: length.limit), timeout, tag)
    }

    /// Reads up to and including a separator, within `length` bytes, into a buffer. The limit works as without a
    /// buffer.
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
        // No buffer counts as an empty one.
        guard let buffer else {
            if offset == 0 { read(kind, timeout, tag) }
            return
        }
        guard kind.isAllowed, let place = ReadBuffer(buffer, offset: offset) else { return }
        session?.read(ReadRequest(kind, timeout: Duration(timeout: timeout), tag: tag), into: place)
    }

    /// Returns the progress of the current read from 0 to 1, or NaN if there is none. A read without a length returns
    /// 1, with a total of 0 bytes. The pointers receive the tag, the bytes read so far, and the total.
    public func progressOfRead(
        returningTag tagPtr: UnsafeMutablePointer<Int>?, bytesDone donePtr: UnsafeMutablePointer<UInt>?,
        total totalPtr: UnsafeMutablePointer<UInt>?
    ) -> Float {
        progress(stream?.snapshot()?.reading.current, tagPtr, donePtr, totalPtr)
    }

    /// Returns the progress of the current write from 0 to 1, or NaN if there is none. The pointers receive the tag,
    /// the bytes written so far, and the total.
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

    /// Writes all of the data after the queued writes. Has no effect if the data is `nil` or empty. It is not copied,
    /// so it must not change until it is written.
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
    /// Queues data, or the array that holds the same bytes if there is one.
    @inline(__always)
    fileprivate func write(_ data: Data, in array: [UInt8]?, timeout: Duration?, tag: Int) {
        // Not `array ?? data.copyIfShort`, which retains the array once more.
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
    /// Whether upstream would queue this read.
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
    /// A copy of the bytes if a copy is cheaper than retaining the data, or else `nil`.
    fileprivate var copyIfShort: [UInt8]? {
        // Reading the length is as expensive as reading the bytes.
        bytes.withUnsafeBytes { $0.count < WrittenData.leastCount ? [UInt8]($0) : nil }
    }
}

extension UInt {
    /// A limit in upstream's form, where 0 means no limit.
    fileprivate var limit: Int? { self == 0 ? nil : Int(clamping: self) }
}
