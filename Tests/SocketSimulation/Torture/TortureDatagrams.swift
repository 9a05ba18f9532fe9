import SocketKit

/// Holds one datagram socket of a scenario, counts what it hears, and then does what its script says.
final class TortureDatagrams: DatagramSocketDelegate, Sendable {
    /// One call, without the socket.
    enum Heard: Sendable {
        case connected, notConnected, sent, notSent, met, closed
        case received(Datagram)
    }

    typealias Reaction = @Sendable (TortureDatagrams, Heard) -> Void

    private struct State {
        var socket: DatagramSocket?
        var unanswered: Set<Int> = []
        var nextTag = 1
        var sessions = 0
        var closed = 0
    }

    private let findings: Findings
    private let react: Reaction
    private let state = Lock(State())

    init(engine: SocketEngine, findings: Findings, _ react: @escaping Reaction) {
        self.findings = findings
        self.react = react
        let socket = DatagramSocket(engine: engine, delegate: self)
        state.withLock { $0.socket = socket }
    }

    var socket: DatagramSocket? { state.withLock { $0.socket } }

    /// Queues a datagram, which must end in one completion.
    func send(_ bytes: [UInt8], to destination: Endpoint? = nil, timeout: Duration? = .seconds(30)) {
        let tag = state.withLock { state in
            defer { state.nextTag += 1 }
            state.unanswered.insert(state.nextTag)
            return state.nextTag
        }
        socket?.send(bytes, to: destination, timeout: timeout, tag: tag)
    }

    private func answered(_ tag: Int) {
        let isFirst = state.withLock { $0.unanswered.remove(tag) != nil }
        findings.require(isFirst, .completedTwice, "datagram \(tag)")
    }

    /// Nothing goes on by itself: whatever did not end by now never will.
    func checkEnd() {
        let unanswered = state.withLock { $0.unanswered }
        findings.require(unanswered.isEmpty, .neverCompleted, "datagrams \(unanswered)")
    }

    func datagramSocket(_ socket: DatagramSocket, didConnectTo address: SocketAddress) { react(self, .connected) }
    func datagramSocket(_ socket: DatagramSocket, didNotConnect error: SocketError) { react(self, .notConnected) }
    func datagramSocket(_ socket: DatagramSocket, didSendWithTag tag: Int) {
        answered(tag)
        react(self, .sent)
    }
    func datagramSocket(_ socket: DatagramSocket, didNotSend datagram: FailedDatagram) {
        answered(datagram.tag)
        react(self, .notSent)
    }
    func datagramSocket(_ socket: DatagramSocket, didReceive datagram: Datagram) { react(self, .received(datagram)) }
    func datagramSocket(_ socket: DatagramSocket, didEncounter error: SocketError) { react(self, .met) }
    func datagramSocket(_ socket: DatagramSocket, didClose error: SocketError?) { react(self, .closed) }
}

extension TortureScenario {
    private static let place = Endpoint.udp(host: Network.host, port: 7_001)

    /// More datagrams than one turn answers that cannot leave, then one that can; it closes when all have ended. None has a
    /// timeout that would help it out.
    static let refusals = TortureScenario(name: "refused datagrams") { machine in
        let receiver = machine.makeDatagrams { _, _ in }
        try? receiver.socket?.bind(to: place)
        try? receiver.socket?.beginReceiving()
        let sender = machine.makeDatagrams { _, _ in }
        for _ in 0..<40 { sender.send([1], timeout: nil) }
        for _ in 0..<4 { sender.send([2], to: place, timeout: nil) }
        sender.socket?.closeAfterSending()
    }

    /// One asks, another answers; the one who asks connects, asks again, and disconnects.
    static let datagrams = TortureScenario(name: "datagrams") { machine in
        let answerer = machine.makeDatagrams { own, heard in
            guard case .received(let datagram) = heard else { return }
            own.send(datagram.bytes + [0], to: Endpoint(datagram.source))
        }
        try? answerer.socket?.bind(to: place)
        try? answerer.socket?.joinGroup("239.1.2.3")
        try? answerer.socket?.beginReceiving()
        let asker = machine.makeDatagrams { own, heard in
            switch heard {
            case .sent, .notSent: try? own.socket?.beginReceiving()
            case .connected: own.send([3])
            case .received(let datagram) where datagram.bytes == [3, 0]: own.socket?.disconnect()
            case .notConnected, .received, .met, .closed: return
            }
        }
        asker.send([1], to: .udp(host: "pair.test", port: 7_001))
        asker.send([2, 2], to: place)
        asker.send([9], to: .udp(host: Network.host, port: 9))
        try? asker.socket?.connect(to: place)
    }
}
