import Glibc
import SocketCore

/// Interprets the connect plan.
extension Connection {
    // MARK: Beginning

    /// Connects to `address`, or to a host once its name is resolved. Attempts start in a later turn.
    func connect(
        to endpoint: Endpoint, at address: SocketAddress?, from localAddresses: [SocketAddress]?, timeout: Duration?
    ) {
        connector = Connector(started: engine.now, timeout: timeout, localAddresses: localAddresses)
        let mailbox = engine.mailbox
        let requestTurn = engine.requestTurn
        if let address {
            if mailbox.post(.begin(id, [address])) == .turn { requestTurn() }
        } else if case .host(let host, let port) = endpoint {
            record(.resolving)
            engine.resolver.resolve(host: host, port: port) { [id] result in
                if mailbox.post(.resolved(id, result)) == .turn { requestTurn() }
            }
        }
        finishStep()
    }

    func begin(with addresses: [SocketAddress]) {
        guard machine.isConnecting else { return }
        race(addresses)
        finishStep()
    }

    func nameResolved(_ result: Result<[SocketAddress], SocketError>) {
        guard let connector, machine.isConnecting else { return }
        switch result {
        case .success(let addresses):
            connector.resolvedIn = engine.now - connector.started
            record(.resolved, addresses.count)
            let allowed = addresses.filter { configuration.allows($0) && connector.canReach($0) }
            if allowed.isEmpty {
                close(error: noAddress(of: addresses.count))
            } else {
                race(allowed)
            }
        case .failure(let error):
            close(error: error)
        }
        finishStep()
    }

    private func noAddress(of found: Int) -> SocketError {
        SocketError(
            .other, operation: "connect",
            detail: "\(target): none of its \(found) addresses has a usable family")
    }

    private func race(_ addresses: [SocketAddress]) {
        guard let connector else { return }
        connector.plan = ConnectPlan(
            addresses, prefersIPv6: configuration.prefersIPv6, attemptDelay: configuration.attemptDelay)
        followPlan()
    }

    // MARK: Racing

    /// How long to wait before retrying a Unix-domain listener whose backlog is full.
    private static let retryTime = Duration.milliseconds(20)

    private func followPlan() {
        while let connector, machine.isConnecting, let action = connector.plan?.next(engine.now) {
            switch action {
            case .attempt(let index):
                begin(index)
            case .wait(let until):
                connector.nextAttempt = until
                return
            case .won(let index):
                return won(index)
            case .exhausted:
                return exhausted()
            }
        }
    }

    private func begin(_ index: Int) {
        guard let connector, let address = connector.plan?.addresses[index] else { return }
        record(.connectAttempt, index)
        switch engine.openStream(for: address) {
        case .bytes(let descriptor):
            let socket = SocketHandle(Int32(descriptor), kernel: engine.kernel)
            let number = socket.descriptor
            configuration.prepare(number, for: address, in: engine)
            // User code may have ended the connect.
            guard machine.isConnecting else { return }
            let failure = bindLocal(number, toReach: address)
            guard failure == 0 else { return failed(index, errno: failure) }
            connector.attempts.append(Connector.Attempt(index: index, socket: socket))
            connected(index, status: engine.kernel.connect(number, to: address), descriptor: number)
        case .failed(let errno):
            failed(index, errno: errno)
        case .wouldBlock:
            failed(index, errno: EAGAIN)
        }
    }

    /// Binds the local side as configured. Returns 0 or an errno.
    private func bindLocal(_ descriptor: Int32, toReach address: SocketAddress) -> Int32 {
        guard let own = connector?.localAddresses?.first(where: { $0.isSameFamily(as: address) }) else {
            return connector?.localAddresses == nil || !address.family.isIP ? 0 : EADDRNOTAVAIL
        }
        if own.port != 0 { _ = engine.kernel.set(.reuseAddress, on: descriptor) }
        return engine.kernel.bind(descriptor, to: own)
    }

    private func connected(_ index: Int, status: Int32, descriptor: Int32) {
        switch status {
        case 0:
            connector?.plan?.succeeded(index, now: engine.now)
        case EINPROGRESS:
            // Register only now: a descriptor that isn't connecting yet would be reported as hung up.
            let failure = engine.reactor.add(descriptor, .write, ReactorToken(id, UInt16(index)))
            if failure != 0 { failed(index, errno: failure) }
        case EAGAIN:
            // The backlog of a Unix-domain listener is full. connect(2) would block, so retry on a timer instead.
            connector?.attempts.removeAll { $0.index == index }
            connector?.retry = (index, engine.now + Self.retryTime)
        default:
            failed(index, errno: status)
        }
    }

    /// Handles a reactor report for an attempt, which has succeeded or failed.
    func handleAttempt(_ readiness: Readiness) {
        let index = Int(readiness.token.index)
        guard let connector, let attempt = connector.attempts.first(where: { $0.index == index }),
            let descriptor = attempt.socket?.descriptor
        else { return }
        engine.reactor.remove(descriptor)
        let errno = engine.kernel.pendingError(descriptor)
        if errno == 0 {
            connector.plan?.succeeded(index, now: engine.now)
        } else {
            failed(index, errno: errno)
        }
        followPlan()
        finishStep()
    }

    /// Does for an attempt what `leaveReactor()` does for the established connection.
    private func leaveReactor(_ attempt: Connector.Attempt) {
        if mayLiveOn, let descriptor = attempt.socket?.descriptor { engine.reactor.remove(descriptor) }
    }

    private func failed(_ index: Int, errno: Int32) {
        record(.connectRefused, index, Int(errno))
        connector?.plan?.failed(index, errno: errno, now: engine.now)
        connector?.attempts.removeAll { $0.index == index }
    }

    // MARK: Ending

    private func won(_ index: Int) {
        guard let connector, let attempt = connector.attempts.first(where: { $0.index == index }) else { return }
        socket = attempt.socket.take()
        // getpeername(2) fails if the peer has already reset the connection, which was nevertheless established.
        peer = connector.plan?.addresses[index]
        // Closing a descriptor removes it from the reactor's set, so the losers leave it here.
        endConnect()
        didConnect()
    }

    /// Abandons the remaining attempts and keeps a summary for later snapshots.
    func endConnect() {
        guard let connector else { return }
        connector.plan?.abandon(now: engine.now)
        connector.summary = connector.snapshot(now: engine.now)
        connector.plan = nil
        for attempt in connector.attempts { leaveReactor(attempt) }
        connector.attempts = []
        connector.nextAttempt = nil
    }

    /// Called once the connection is open, however it was made.
    func didConnect() {
        guard let descriptor = socket?.descriptor else { return }
        // An accepted connection usually knows both addresses already.
        if local == nil { local = engine.kernel.localAddress(descriptor) }
        if role == .client || peer == nil { peer = engine.kernel.peerAddress(descriptor) ?? peer }
        connected = PackedTime(engine.now)
        machine.didConnect(now: engine.now)
        record(.connected)
        tapeEstablished()
        if role == .client, let peer { notify(.connected(peer, of: id)) }
        performReads()
        askForFlush()
    }

    private func exhausted() {
        guard let connector, let plan = connector.plan else { return }
        let attempts = plan.attempts(engine.now)
        let last = attempts.last { $0.errno != nil }
        let errno = last?.errno ?? EADDRNOTAVAIL
        close(
            error: .system(
                errno, operation: "connect", subject: last.map { .address($0.address) } ?? .name(target),
                attempts: attempts))
    }

    func handleConnectDeadline() {
        guard let connector else { return }
        if let timesOut = connector.timesOut, timesOut <= engine.now {
            let attempts = connector.plan?.attempts(engine.now) ?? []
            let what = connector.plan == nil ? "still resolving the name" : "no address answered"
            return close(
                error: SocketError(
                    .connectTimeout, operation: "connect",
                    detail: "\(target): \(what) after \(connector.timeout ?? .zero)", attempts: attempts))
        }
        connector.nextAttempt = nil
        if let retry = connector.retry, retry.time <= engine.now {
            connector.retry = nil
            begin(retry.index)
        }
        followPlan()
    }
}
