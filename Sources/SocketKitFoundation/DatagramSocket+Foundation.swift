public import Foundation
public import SocketKit

/// Datagrams with Foundation's types.
extension DatagramSocket {
    /// Queues a datagram and returns its identifier, as `send(_:to:timeout:tag:)` with `[UInt8]` does.
    @discardableResult
    public func send(
        _ data: Data, to destination: Endpoint? = nil, timeout: Duration? = nil, tag: Int = 0
    ) -> OperationID {
        send([UInt8](data), to: destination, timeout: timeout, tag: tag)
    }

    /// Queues a datagram and returns when the kernel has accepted it. Throws the reason if it was not sent.
    public func send(_ data: Data, to destination: Endpoint? = nil, timeout: Duration? = nil) async throws(SocketError)
    {
        try await send([UInt8](data), to: destination, timeout: timeout)
    }
}

extension Datagram {
    /// The payload, or the part of it that was kept.
    public var data: Data { Data(bytes) }
}
