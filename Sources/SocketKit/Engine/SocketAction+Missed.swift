import SocketCore

extension SocketCommand.Action {
    /// Returns how a read or write ends if its session has ended, or `nil` for actions without a completion.
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
