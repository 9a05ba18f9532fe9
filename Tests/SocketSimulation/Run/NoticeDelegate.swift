import SocketKit

/// A delegate that makes notices of what it is told. What needs an answer, or is of use to one player only, it leaves to
/// the player.
package protocol NoticeDelegate: AsyncSocketDelegate {
    func hear(_ notice: Notice)
}

extension NoticeDelegate {
    package func socket(_ socket: AsyncSocket, didConnectTo address: SocketAddress) { hear(.connected) }
    package func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) { hear(.read(bytes, tag: tag)) }
    package func socket(_ socket: AsyncSocket, didReadPartialOf count: Int, tag: Int) {
        hear(.readPartial(count, tag: tag))
    }
    package func socket(_ socket: AsyncSocket, didWriteWithTag tag: Int) { hear(.wrote(tag: tag)) }
    package func socket(_ socket: AsyncSocket, didWritePartialOf count: Int, tag: Int) {
        hear(.wrotePartial(count, tag: tag))
    }
    package func socket(_ socket: AsyncSocket, didFail operation: FailedOperation) { hear(.failed(operation)) }
    package func socketDidCloseReadStream(_ socket: AsyncSocket) { hear(.closedReadStream) }
    package func socketPeerDidClose(_ socket: AsyncSocket) { hear(.peerClosed) }
    package func socket(_ socket: AsyncSocket, willDisconnect error: SocketError, unread: [UInt8]) {
        hear(.disconnecting(unread: unread))
    }
    package func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) { hear(.disconnected(error)) }
}
