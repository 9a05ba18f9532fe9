import SocketKit

/// Holds one datagram socket and uses it as chance has it: many datagrams can't leave, for want of a destination, a
/// descriptor or an address. Each must end once all the same.
package final class DatagramPlayer: DatagramSocketDelegate, Sendable {
    private struct State {
        var socket: DatagramSocket?
        var nextTag = 1
        var unanswered: Set<Int> = []
    }

    private unowned let stage: Stage
    private let state = Lock(State())
    private static let ports: [UInt16] = [7_101, 7_102]

    init(engine: SocketEngine, stage: Stage) {
        self.stage = stage
        let socket = DatagramSocket(engine: engine, delegate: self)
        state.withLock { $0.socket = socket }
    }

    private var socket: DatagramSocket? { state.withLock { $0.socket } }

    /// Does one thing that a user of a datagram socket may do.
    func act() {
        guard let socket else { return }
        stage.trace("  datagrams \(socket.session?.description ?? "-")")
        switch stage.chance.below(16) {
        case 0..<3: for _ in 0..<stage.chance.within(1...40) { send(nil) }
        case 3..<9: for _ in 0..<stage.chance.within(1...24) { send(endpoint) }
        case 9: try? socket.bind(to: endpoint)
        case 10: try? socket.connect(to: endpoint)
        case 11: socket.disconnect()
        case 12, 13: try? stage.chance.oneIn(2) ? socket.beginReceiving() : socket.receiveOnce()
        case 14: socket.closeAfterSending()
        default: stage.chance.oneIn(2) ? socket.close() : socket.pauseReceiving()
        }
    }

    private var endpoint: Endpoint { .udp(host: Network.host, port: stage.chance.pick(Self.ports)) }

    private func send(_ destination: Endpoint?) {
        let tag = state.withLock { state in
            defer { state.nextTag += 1 }
            state.unanswered.insert(state.nextTag)
            return state.nextTag
        }
        socket?.send([UInt8](repeating: 1, count: stage.chance.below(20)), to: destination, tag: tag)
    }

    private func answered(_ tag: Int) {
        let isFirst = state.withLock { $0.unanswered.remove(tag) != nil }
        stage.findings.require(isFirst, .completedTwice, "datagram \(tag)")
        if stage.isOpen, stage.chance.oneIn(16) { act() }
    }

    /// Nothing goes on by itself any more: every datagram has ended.
    func checkEnd() {
        let unanswered = state.withLock { $0.unanswered.sorted() }
        stage.findings.require(unanswered.isEmpty, .hanging, "datagrams \(unanswered.prefix(3)) never end")
    }

    /// Closes, and lets go of the socket.
    func leave() {
        socket?.close()
        state.withLock { $0.socket.take() }.map { withExtendedLifetime($0) {} }
    }

    package func datagramSocket(_ socket: DatagramSocket, didSendWithTag tag: Int) { answered(tag) }
    package func datagramSocket(_ socket: DatagramSocket, didNotSend datagram: FailedDatagram) {
        answered(datagram.tag)
    }
}
