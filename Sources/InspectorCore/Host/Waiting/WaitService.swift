import SocketCore

/// What a program did for all who ask it. A server with thousands of connections is looked through once.
struct WaitService {
    /// Whether it has read bytes between the last two looks.
    private(set) var hasRead = false
    /// How long ago it last sent something.
    private(set) var answered: Duration?
    /// Its connections with clients, and how long ago bytes last came on each.
    private(set) var requests: [(id: UInt64, came: Duration)] = []

    init(_ facts: HostFacts, _ process: HostProcess?) {
        let scene = facts.scene
        for inode in process?.sockets.values ?? [:].values {
            guard let socket = scene.socket(inode: inode), !socket.isListening else { continue }
            if facts.ledger.consumed.contains(inode) { hasRead = true }
            guard let tcp = socket.tcp else { continue }
            if socket.sentBytes ?? 0 > 0, let sent = tcp.lastSent { answered = min(answered ?? sent, sent) }
            if socket.transport == .tcp, socket.receivedBytes ?? 0 > 0, let came = tcp.lastReceived,
                scene.isServerSide(socket)
            {
                requests.append((socket.id, came))
            }
        }
    }
}
