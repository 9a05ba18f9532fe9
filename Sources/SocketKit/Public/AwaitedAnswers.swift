import SocketCore

/// Hears how an awaited operation ended: with the bytes of a read (a write has none), or failed.
typealias OperationAnswer = @Sendable (Result<[UInt8], FailedOperation>) -> Void

/// Who awaits what of one socket.
struct AwaitedAnswers {
    var operations: [OperationID: OperationAnswer] = [:]
    /// Those of the operations that are reads.
    var reads: Set<OperationID> = []
    var connections: [@Sendable (SocketError?) -> Void] = []
    /// Those who wait for TLS.
    var securings: [@Sendable (SocketError?) -> Void] = []
    /// Those who wait for room in the write queue, by names taken from the engine.
    var room: [OperationID: @Sendable (SocketError?) -> Void] = [:]

    /// Whether nobody awaits anything.
    var isEmpty: Bool {
        operations.isEmpty && connections.isEmpty && securings.isEmpty && room.isEmpty
    }

    /// The answers that this notice gives; empty: nobody awaits it.
    mutating func take(_ notice: SocketNotice) -> [@Sendable () -> Void] {
        switch notice {
        case .read(let operation, _, let bytes, _): answer(operation, .success(bytes))
        case .wrote(let operation, _): answer(operation, .success([]))
        case .failed(let failed): answer(failed.operation, .failure(failed))
        case .readPartial(let operation, _, _), .wrotePartial(let operation, _, _):
            // Not the end of it, but not the delegate's business either.
            operations[operation] == nil ? [] : [{}]
        case .connected: answerConnections(nil)
        case .secured: take(&securings, nil)
        case .writable(true): answerRoom(nil)
        case .disconnected(let error):
            answerRoom(error ?? SocketError(.disconnected, operation: "write", detail: "closed by this side"))
                + answerConnections(
                    error ?? SocketError(.disconnected, operation: "connect", detail: "closed by this side"))
                + take(&securings, error ?? SocketError(.disconnected, operation: "TLS", detail: "closed by this side"))
        case .trust, .timedOut, .closedReadStream, .peerClosed, .writable(false), .disconnecting: []
        }
    }

    private mutating func answerRoom(_ error: SocketError?) -> [@Sendable () -> Void] {
        guard !room.isEmpty else { return [] }
        defer { room = [:] }
        return room.values.map { answer in { answer(error) } }
    }

    private mutating func answer(
        _ operation: OperationID, _ result: Result<[UInt8], FailedOperation>
    ) -> [@Sendable () -> Void] {
        guard !operations.isEmpty, let answer = operations.removeValue(forKey: operation) else { return [] }
        reads.remove(operation)
        return [{ answer(result) }]
    }

    private mutating func answerConnections(_ error: SocketError?) -> [@Sendable () -> Void] {
        guard !connections.isEmpty else { return [] }
        return takeConnections().map { answer in { answer(error) } }
    }

    private func take(
        _ list: inout [@Sendable (SocketError?) -> Void], _ error: SocketError?
    ) -> [@Sendable () -> Void] {
        guard !list.isEmpty else { return [] }
        defer { list = [] }
        return list.map { answer in { answer(error) } }
    }

    /// Takes out those who await the connection.
    mutating func takeConnections() -> [@Sendable (SocketError?) -> Void] {
        defer { connections = [] }
        return connections
    }
}

extension SocketNotice {
    /// Whether this is about one operation, so that it concerns either the one who awaits it or the delegate.
    var isCompletion: Bool {
        switch self {
        case .read, .readPartial, .wrote, .wrotePartial, .failed: true
        case .connected, .secured, .trust, .timedOut, .closedReadStream, .peerClosed, .writable, .disconnecting,
            .disconnected:
            false
        }
    }
}
