import SocketCore

extension SocketCommand {
    /// The same command for another session.
    func with(_ session: SocketID) -> SocketCommand {
        switch self {
        case .read(_, let request): .read(session, request)
        case .write(_, let request): .write(session, request)
        case .close(_, let mode): .close(session, mode)
        case .halfClose: .halfClose(session)
        case .pauseReading(_, let pause): .pauseReading(session, pause)
        case .answerTimeout(_, let operation, let verdict): .answerTimeout(session, operation, verdict)
        case .cancel(_, let target): .cancel(session, target)
        case .setTimeout(_, let operation, let timeout): .setTimeout(session, operation, timeout)
        case .setWatermarks(_, let marks): .setWatermarks(session, marks)
        case .answerConnection(_, let verdict): .answerConnection(session, verdict)
        }
    }

    /// How a read or write ends whose session is over; nil for commands that have no completion.
    func failure(as id: OperationID) -> FailedOperation? {
        switch self {
        case .read(_, let request):
            FailedOperation(
                operation: id, kind: .read(request.kind), tag: request.tag, done: 0, total: request.total, bytes: [],
                error: SocketError(.notConnected, operation: "read", detail: "the socket is not connected"))
        case .write(_, let request):
            FailedOperation(
                operation: id, kind: .write, tag: request.tag, done: 0, total: request.bytes.count, bytes: [],
                error: SocketError(.notConnected, operation: "write", detail: "the socket is not connected"))
        case .close, .halfClose, .pauseReading, .answerTimeout, .cancel, .setTimeout, .setWatermarks,
            .answerConnection:
            nil
        }
    }
}
