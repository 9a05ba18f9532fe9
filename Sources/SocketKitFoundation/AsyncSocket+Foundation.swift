public import Foundation
public import SocketKit

/// Reading and writing with Foundation's types. Each call does what its twin with `[UInt8]` does, and copies the bytes once.
extension AsyncSocket {
    /// Queues a write of `data`, as `write(_:timeout:tag:)` with `[UInt8]` does. Data of no bytes fails with `badParameter`,
    /// which `didFail` tells.
    @discardableResult
    public func write(_ data: Data, timeout: Duration? = nil, tag: Int = 0) -> OperationID {
        write([UInt8](data), timeout: timeout, tag: tag)
    }

    /// Queues a write of the UTF-8 of `text`; nothing is added, no line ending either.
    @discardableResult
    public func write(_ text: String, timeout: Duration? = nil, tag: Int = 0) -> OperationID {
        write([UInt8](text.utf8), timeout: timeout, tag: tag)
    }

    /// Writes `data` and returns when the kernel has all of it. Throws what `send(_:timeout:tag:)` with `[UInt8]` throws.
    public func send(_ data: Data, timeout: Duration? = nil, tag: Int = 0) async throws(SocketError) {
        try await send([UInt8](data), timeout: timeout, tag: tag)
    }

    /// Writes the UTF-8 of `text` and returns when the kernel has all of it.
    public func send(_ text: String, timeout: Duration? = nil, tag: Int = 0) async throws(SocketError) {
        try await send([UInt8](text.utf8), timeout: timeout, tag: tag)
    }

    /// Reads what `request` asks for. Throws what the read with `[UInt8]` throws.
    public func data(_ request: ReadRequest) async throws(SocketError) -> Data {
        Data(try await read(request))
    }
}

extension ReadRequest {
    /// A read up to and including `delimiter`, whose UTF-8 must have at least one byte, within `limit` bytes (`nil`: no
    /// limit). GCDAsyncSocket: `readDataToData:withTimeout:tag:`.
    public static func until(
        _ delimiter: String, limit: Int? = nil, timeout: Duration? = nil, tag: Int = 0
    ) -> ReadRequest {
        ReadRequest(.delimiter([UInt8](delimiter.utf8), limit: limit), timeout: timeout, tag: tag)
    }
}
