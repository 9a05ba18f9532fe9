public import Foundation
public import SocketKit

/// Datagrams with Foundation's types.
extension DatagramSocket {
    /// Queues a datagram and names it, as `send(_:to:timeout:tag:)` with `[UInt8]` does.
    @discardableResult
    public func send(
        _ data: Data, to destination: Endpoint? = nil, timeout: Duration? = nil, tag: Int = 0
    ) -> OperationID {
        send([UInt8](data), to: destination, timeout: timeout, tag: tag)
    }

    /// Queues a datagram and returns when the kernel has it. Throws why it was not sent.
    public func send(_ data: Data, to destination: Endpoint? = nil, timeout: Duration? = nil) async throws(SocketError)
    {
        try await send([UInt8](data), to: destination, timeout: timeout)
    }
}

extension Datagram {
    /// The payload, as far as it was kept.
    public var data: Data { Data(bytes) }
}
