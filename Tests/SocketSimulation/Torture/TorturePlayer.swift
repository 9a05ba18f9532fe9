import SocketKit

/// Holds one socket of a scenario, passes on to the ledger what it hears, and then does what its script says.
package final class TorturePlayer: NoticeDelegate, Sendable {
    /// What to do when something was heard.
    package typealias Reaction = @Sendable (TorturePlayer, Notice) -> Void

    private struct State {
        var socket: AsyncSocket?
        var received: [UInt8] = []
    }

    let number: Int
    private let ledger: Ledger
    private let react: Reaction
    private let state = Lock(State())
    /// Long enough for whatever a scenario does, so that nothing waits for ever.
    private static let timeout = Duration.seconds(30)

    init(number: Int, ledger: Ledger, _ react: @escaping Reaction) {
        self.number = number
        self.ledger = ledger
        self.react = react
    }

    var socket: AsyncSocket? { state.withLock { $0.socket } }

    /// What its reads got so far.
    var received: [UInt8] { state.withLock { $0.received } }

    func absorb(_ socket: AsyncSocket) {
        socket.delegate = self
        state.withLock { $0.socket = socket }
    }

    func connect(to host: String = Network.host, port: UInt16 = TortureMachine.port) {
        guard let socket, (try? socket.connect(toHost: host, port: port, timeout: Self.timeout)) != nil else { return }
        ledger.begin(socket.session, owner: number, isAccepted: false)
    }

    /// Takes over a descriptor; false when it was refused, and is the caller's still.
    func adopt(_ descriptor: Int32) -> Bool {
        guard let socket else { return false }
        do throws(SocketError) {
            try socket.adopt(descriptor: descriptor)
        } catch {
            return false
        }
        ledger.begin(socket.session, owner: number, isAccepted: false)
        return true
    }

    func read(_ kind: ReadRequest.Kind, isStanding: Bool = false) {
        let timeout: Duration? = isStanding ? nil : Self.timeout
        let request = ReadRequest(kind, timeout: timeout, isStanding: isStanding)
        socket?.read(ledger.read(request, session: socket?.session))
    }

    func write(_ bytes: [UInt8]) {
        socket?.write(bytes, timeout: Self.timeout, tag: ledger.write(bytes, session: socket?.session))
    }

    package func hear(_ notice: Notice) {
        if case .read(let bytes, _) = notice { state.withLock { $0.received += bytes } }
        ledger.absorb(notice, owner: number)
        react(self, notice)
    }

    package func socket(_ socket: AsyncSocket, didTimeOut operation: TimedOutOperation) -> TimeoutVerdict {
        hear(.timedOut(operation))
        return .close
    }
}

/// Gives every connection that a scenario's listener takes a player.
final class TortureDoor: SocketListenerDelegate, Sendable {
    private let ledger: Ledger
    private let react: TorturePlayer.Reaction
    private let players = Lock<[TorturePlayer]>([])

    init(ledger: Ledger, _ react: @escaping TorturePlayer.Reaction) {
        self.ledger = ledger
        self.react = react
    }

    func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
        // Apart from the numbers of those who connect.
        let player = players.withLock { players in
            players.append(TorturePlayer(number: 1_000 + players.count, ledger: ledger, react))
            return players[players.count - 1]
        }
        ledger.begin(socket.session, owner: player.number, isAccepted: true)
        player.absorb(socket)
        // An accepted connection stands already.
        react(player, .connected)
    }

    func disconnectAll() {
        for player in players.withLock({ $0 }) { player.socket?.disconnect() }
    }
}
