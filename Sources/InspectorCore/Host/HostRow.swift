import SocketCore

extension SocketSnapshot.Facts {
    /// Creates facts from sock_diag(7), without rates.
    init(_ socket: HostSocket, id: SocketID, isServerSide: Bool, opened: MonotonicTime) {
        self.init(
            id: id, role: socket.role(isServerSide: isServerSide), phase: socket.phase, target: "", opened: opened)
        (local, peer) = (socket.local, socket.peer)
        if socket.transport.isUnix, peer == nil, socket.peerInode != 0 { peer = .unnamed }
        isWriteShut = socket.isWriteShut
        (received, sent) = (socket.receivedBytes ?? 0, socket.sentBytes ?? 0)
        kernel = KernelSnapshot(socket)
    }
}

extension HostSocket {
    func role(isServerSide: Bool) -> SocketRole {
        if isListening { return .listener }
        if !transport.isStream { return .datagram }
        return isServerSide ? .accepted : .client
    }

    var phase: SocketPhase {
        switch state {
        case .listening: .listening
        case .synSent, .synReceived, .newSynReceived: .connecting
        case .closed: .open
        case .established, .closeWait: .connected
        case .finWait1, .finWait2, .timeWait, .lastAck, .closing: .lingering
        }
    }

    var isWriteShut: Bool {
        switch state {
        case .finWait1, .finWait2, .timeWait, .lastAck, .closing: true
        default: shutdown & 2 != 0
        }
    }
}

extension HostState {
    /// The state as written by `ss`.
    package var word: String {
        switch self {
        case .established: "ESTAB"
        case .synSent: "SYN-SENT"
        case .synReceived, .newSynReceived: "SYN-RECV"
        case .finWait1: "FIN-WAIT-1"
        case .finWait2: "FIN-WAIT-2"
        case .timeWait: "TIME-WAIT"
        case .closed: "UNCONN"
        case .closeWait: "CLOSE-WAIT"
        case .lastAck: "LAST-ACK"
        case .listening: "LISTEN"
        case .closing: "CLOSING"
        }
    }
}

extension KernelSnapshot {
    /// Creates facts from sock_diag(7).
    init(_ socket: HostSocket) {
        self.init()
        (receiveQueue, sendQueue) = (socket.receiveQueue.map(Int.init), socket.sendQueue.map(Int.init))
        if socket.transport == .tcp, let unread = socket.unread { receiveQueue = Int(unread) }
        state = socket.state.word
        notSent = socket.tcp?.notSent.map(Int.init)
        roundTripTime = socket.tcp?.roundTrip
        congestionWindow = socket.tcp?.congestionWindow.map(Int.init)
        retransmits = socket.tcp?.retransmitted.map(Int.init)
        bytesReceived = socket.tcp?.received
        bytesSent = socket.tcp?.sent
        drops = socket.transport.isStream ? nil : socket.memory.map { UInt64($0.drops) }
        receiveBuffer = socket.memory.map { Int($0.receiveBuffer) }
    }
}
