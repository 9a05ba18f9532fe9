public import Foundation
public import SocketKit

/// Reading and writing with Foundation's types. Each call does the same as its counterpart with `[UInt8]`, and copies
/// the bytes once.
extension AsyncSocket {
    /// Queues a write of `data`, as `write(_:timeout:tag:)` with `[UInt8]` does. Empty data fails with `badParameter`,
    /// which `didFail` reports.
    @discardableResult
    public func write(_ data: Data, timeout: Duration? = nil, tag: Int = 0) -> OperationID {
        write([UInt8](data), timeout: timeout, tag: tag)
    }

    /// Queues a write of the UTF-8 of `text`. No line ending is added.
    @discardableResult
    public func write(_ text: String, timeout: Duration? = nil, tag: Int = 0) -> OperationID {
        write([UInt8](text.utf8), timeout: timeout, tag: tag)
    }

    /// Writes `data` and returns when the kernel has accepted all of it. Throws what `send(_:timeout:tag:)` with
    /// `[UInt8]` throws.
    public func send(_ data: Data, timeout: Duration? = nil, tag: Int = 0) async throws(SocketError) {
        try await send([UInt8](data), timeout: timeout, tag: tag)
    }

    /// Writes the UTF-8 of `text` and returns when the kernel has accepted all of it.
    public func send(_ text: String, timeout: Duration? = nil, tag: Int = 0) async throws(SocketError) {
        try await send([UInt8](text.utf8), timeout: timeout, tag: tag)
    }

    /// Performs a read and returns its bytes. Throws what `read(_:)` throws.
    public func data(_ request: ReadRequest) async throws(SocketError) -> Data {
        Data(try await read(request))
    }
}

extension ReadRequest {
    /// Returns a read up to and including `delimiter`, whose UTF-8 must have at least one byte. The read is limited to
    /// `limit` bytes, or unlimited if it is `nil`. GCDAsyncSocket: `readDataToData:withTimeout:tag:`.
    public static func until(
        _ delimiter: String, limit: Int? = nil, timeout: Duration? = nil, tag: Int = 0
    ) -> ReadRequest {
        ReadRequest(.delimiter([UInt8](delimiter.utf8), limit: limit), timeout: timeout, tag: tag)
    }
}
