import SocketCore

extension SocketCommand.Action {
    /// How a read or write ends whose session is over; nil for actions that have no completion.
    func failure(as id: OperationID) -> FailedOperation? {
        switch self {
        case .read(let request):
            FailedOperation(
                operation: id, kind: .read(request.kind), tag: request.tag, done: 0, total: request.total, bytes: [],
                error: SocketError(.notConnected, operation: "read", detail: "the socket is not connected"))
        case .write(let request):
            FailedOperation(
                operation: id, kind: .write, tag: request.tag, done: 0, total: request.contents.count, bytes: [],
                error: SocketError(.notConnected, operation: "write", detail: "the socket is not connected"))
        default: nil
        }
    }
}
