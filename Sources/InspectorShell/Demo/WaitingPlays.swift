import SocketKit

/// A read whose answer is late: it times out, and its delegate extends it until the answer arrives.
package final class PatiencePlay: Demo.Play {
    private let engine: SocketEngine
    private let server: Player
    private let client: Player
    private let stage: Stage

    package init(_ engine: SocketEngine, _ tick: Duration) throws(SocketError) {
        self.engine = engine
        server = Player(onOpen: { $0.read(ReadRequest(.available(limit: nil), isStanding: true)) })
        let ask: Player.Act = { socket in
            socket.write(Array("are you there?\r\n".utf8), tag: 1)
            socket.read(ReadRequest(.length(16), timeout: tick * 30, tag: 2))
        }
        client = Player(onOpen: ask, onRead: { socket, _ in ask(socket) }, verdict: .extend(by: tick * 20))
        stage = try Stage(engine, server, name: "late")
    }

    package func tick(_ count: Int) {
        if count == 0 { client.connect(engine, to: stage.port, name: "patient") }
        guard count % 65 == 64 else { return }
        for socket in server.sockets { socket.write(Array("yes, I am here\r\n".utf8)) }
    }
}

/// A client that sends a request, sends FIN and waits. The server answers on the half-open connection and then closes.
package final class HalfClosePlay: Demo.Play {
    private let engine: SocketEngine
    private let server: Player
    private let client: Player
    private let stage: Stage

    package init(_ engine: SocketEngine) throws(SocketError) {
        self.engine = engine
        server = Player(onOpen: { $0.read(ReadRequest(.available(limit: nil), isStanding: true)) })
        client = Player(onOpen: { socket in
            socket.read(ReadRequest(.available(limit: nil), isStanding: true))
            socket.write(Array("that is all\r\n".utf8))
            socket.halfClose()
        })
        stage = try Stage(engine, server, name: "half-open", halfOpen: true)
    }

    package func tick(_ count: Int) {
        if count % 150 == 20 { client.connect(engine, to: stage.port, name: "half-closer") }
        guard count % 10 == 0 else { return }
        for socket in server.sockets {
            socket.write(Array("still answering\r\n".utf8))
            if count % 150 == 120 { socket.disconnect(.afterWriting) }
        }
    }
}

/// Short connections that each end for a different reason, and a connect that is refused.
package final class EndingsPlay: Demo.Play {
    private let engine: SocketEngine
    private let server: Player
    private let stage: Stage
    /// A port without a listener.
    private let closedPort: UInt16

    private let leaver = Player(onOpen: { $0.disconnect() })
    private let greedy = Player(onOpen: { $0.read(ReadRequest(.delimiter([10], limit: 8), tag: 5)) })
    private let impatient: Player
    private let listening = Player(onOpen: { $0.read(ReadRequest(.available(limit: nil), isStanding: true)) })

    package init(_ engine: SocketEngine, _ tick: Duration) throws(SocketError) {
        self.engine = engine
        impatient = Player(onOpen: { $0.read(ReadRequest(.length(1_000), timeout: tick * 10, tag: 6)) })
        server = Player(onOpen: { socket in
            socket.read(ReadRequest(.available(limit: nil), isStanding: true))
            socket.write(Array("welcome to the short-lived service".utf8))
        })
        stage = try Stage(engine, server, name: "short-lived")
        let closed = try Stage(engine, Player(), name: "nobody")
        closedPort = closed.port
        closed.listener.stop()
    }

    package func tick(_ count: Int) {
        switch count % 240 {
        case 5: leaver.connect(engine, to: closedPort, name: "refused")
        case 45: leaver.connect(engine, to: stage.port, name: "leaver")
        case 85: greedy.connect(engine, to: stage.port, name: "greedy")
        case 125: impatient.connect(engine, to: stage.port, name: "impatient")
        case 165, 205: listening.connect(engine, to: stage.port, name: "visitor")
        case 180: for socket in server.sockets { socket.disconnect(.afterWriting) }
        case 220: for socket in server.sockets { socket.disconnect(.reset) }
        default: break
        }
    }
}
