import SocketCore

/// The opening handshake.
extension WebSocketLayer {
    /// Handles bytes received before it is open.
    func receiveOpening(_ bytes: RawSpan, on connection: Connection) {
        switch stage {
        case .tunnelling(var tunnel):
            stage = .over
            let step = tunnel.receive(bytes)
            follow(step, tunnel, bytes, on: connection)
        case .opening(var handshake):
            stage = .over
            let step = handshake.receive(bytes)
            follow(step, handshake, bytes, on: connection)
        case .answering(var handshake):
            stage = .over
            let step = handshake.receive(bytes)
            follow(step, handshake, bytes, on: connection)
        case .tunnelled(let early): stage = .tunnelled(early: early + Self.copy(bytes))
        case .deciding(let request, let early): stage = .deciding(request, early: early + Self.copy(bytes))
        case .returning, .open, .over: break
        }
    }

    /// Handles the peer's end of stream.
    func receiveEnd(on connection: Connection) {
        switch stage {
        case .open:
            machine?.receiveEnd(now: connection.engine.now, into: &events)
            performEvents(on: connection)
        case .tunnelling(var tunnel):
            let step = tunnel.receiveEnd()
            follow(step, tunnel, RawSpan(), on: connection)
        case .opening(var handshake):
            let step = handshake.receiveEnd()
            follow(step, handshake, RawSpan(), on: connection)
        case .answering, .deciding, .tunnelled:
            fail(.badHandshake, "the peer closed the connection during the handshake", on: connection)
        case .returning, .over: connection.askToClose(.afterWriting)
        }
    }

    private static func copy(_ bytes: RawSpan) -> [UInt8] { bytes.withUnsafeBytes { Array($0) } }

    // MARK: The proxy

    private func follow(
        _ step: TunnelHandshake.Step, _ tunnel: TunnelHandshake, _ bytes: RawSpan, on connection: Connection
    ) {
        switch step {
        case .wait: stage = .tunnelling(tunnel)
        case .open(let taken):
            stage = .tunnelled(early: Self.copy(bytes.extracting(taken..<bytes.byteCount)))
            askToProceed(on: connection)
        case .again(onNewConnection: false):
            stage = .tunnelling(tunnel)
            write(tunnel.request, on: connection)
        case .again(onNewConnection: true):
            stage = .returning(tunnel)
            connection.close(error: nil)
        case .refused(let refusal):
            response = refusal.head
            fail(.proxyRefused(refusal), "the proxy answered \(refusal.head.startLine)", on: connection)
        case .broken(let problem): fail(.badHandshake, problem, on: connection)
        }
    }

    /// Begins TLS within the established tunnel, if requested, and sends the request.
    func enterTunnel(_ early: [UInt8], on connection: Connection) {
        guard let plan, !connection.machine.isClosed else { return }
        if let context = plan.tls {
            guard early.isEmpty else {
                return fail(.badHandshake, "bytes arrived through the tunnel before TLS", on: connection)
            }
            do throws(SocketError) {
                try connection.startTLS(context)
            } catch {
                return fail(error, on: connection)
            }
        }
        let handshake = plan.handshake
        stage = .opening(handshake)
        ask(handshake, on: connection)
        if !early.isEmpty { receiveOpening(early.span.bytes, on: connection) }
    }

    // MARK: A client's request

    func ask(_ handshake: ClientHandshake, on connection: Connection) {
        request = handshake.head
        write(handshake.request, on: connection)
    }

    private func follow(
        _ step: ClientHandshake.Step, _ handshake: ClientHandshake, _ bytes: RawSpan, on connection: Connection
    ) {
        switch step {
        case .wait: stage = .opening(handshake)
        case .open(let agreement, let compression, let taken):
            response = agreement.response
            opened(agreement, compression, on: connection)
            receive(bytes.extracting(taken..<bytes.byteCount), on: connection)
        case .failed(.refused(let refusal)):
            response = refusal.head
            fail(.refused(refusal), "the server answered \(refusal.head.startLine)", on: connection)
        case .failed(.broken(let problem, let head)):
            response = head
            fail(.badHandshake, problem, on: connection)
        }
    }

    // MARK: Open

    /// Switches to frames.
    func opened(
        _ agreement: WebSocketAgreement, _ compression: PerMessageDeflateParameters?, on connection: Connection
    ) {
        let now = connection.engine.now
        self.agreement = agreement
        openDeadline = nil
        openedIn = now - began
        reported = handedOn
        stage = .open
        machine = WebSocketMachine(role: role, deflate: compression, settings: configuration.settings, now: now)
        machine?.reportsFrames = connection.traffic != nil
        let engine = connection.engine
        if let listener = listener.load(in: engine), let handle = handle.load(in: engine) {
            handle.state.withLock { $0.agreement = agreement }
            engine.outbox.append(.webSocketListener(listener, .accepted(handle, agreement)))
        } else {
            tell(.opened(agreement), on: connection)
        }
        let commands = waiting
        waiting = []
        for (command, operation) in commands { perform(command, as: operation, on: connection) }
    }

    // MARK: Failure

    /// Fails the opening and closes the connection with this error.
    func fail(_ reason: WebSocketProblem, _ detail: String, on connection: Connection) {
        let subject = plan.map { $0.url.description } ?? connection.peer?.description ?? connection.target
        fail(SocketError(.webSocket(reason), operation: "handshake", detail: "\(subject): \(detail)"), on: connection)
    }

    func fail(_ error: SocketError, on connection: Connection) {
        problem = error
        stage = .over
        connection.close(error: error)
    }

    /// Fails the opening if its deadline has passed.
    func expireOpening(on connection: Connection) {
        guard let due = openDeadline, due <= connection.engine.now else { return }
        if let unsentAnswer { return expireAnswer(unsentAnswer, on: connection) }
        openDeadline = nil
        // The server's refusal is more useful to report than its unfinished body.
        if case .opening(var handshake) = stage, case .failed(.refused(let refusal)) = handshake.receiveEnd() {
            response = refusal.head
            return fail(.refused(refusal), "the server answered \(refusal.head.startLine)", on: connection)
        }
        let time = configuration.openTimeout ?? .zero
        fail(.handshakeTimeout, "not open after \(time)", on: connection)
    }
}
