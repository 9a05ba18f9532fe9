import Glibc
import SocketCore

/// Interprets the send queue.
extension DatagramSession {
    /// Batches before other sockets get their share of the turn.
    private static let sendBudget = 16
    /// Datagrams that are refused, or judged by a filter, before that: they cost no system call.
    private static let answerBudget = 1_024
    /// Datagrams that one system call carries.
    private static let batchLimit = 64
    /// How long to wait where the kernel does not say that there is room.
    private static let retryPause = Duration.milliseconds(5)

    // MARK: Queueing

    /// Queues a datagram; it is tried at the end of the turn, together with others of this turn.
    func queue(_ request: DatagramRequest, as operation: OperationID) {
        record(.writeQueued, tag: request.tag, request.bytes.count)
        do throws(SocketError) {
            if let fault = request.fault { throw fault }
            if closesWhenSent || closesWhenReceived {
                throw SocketError(.disconnected, operation: "send", detail: "the socket is about to close")
            }
            try checkSize(request)
            let target = try request.destination.map { to throws(SocketError) in try self.target(of: to) } ?? .peer
            queue.enqueue(request, to: target, as: operation, now: engine.now)
            if target == .name, let destination = request.destination { resolve(destination, for: operation) }
        } catch {
            fail(
                FailedDatagram(
                    operation: operation, tag: request.tag, bytes: request.bytes, destination: request.destination,
                    error: error))
        }
        askForFlush()
        finishStep()
    }

    private func checkSize(_ request: DatagramRequest) throws(SocketError) {
        let count = request.bytes.count
        if count > configuration.maximumSendLength {
            throw SocketError(
                .system(errno: EMSGSIZE), operation: "send",
                detail: "\(count) bytes: too long; this socket sends at most \(configuration.maximumSendLength)")
        }
        if queue.weight + count + 64 > configuration.sendQueueLimit {
            throw SocketError(
                .system(errno: ENOBUFS), operation: "send",
                detail: "\(queue.count) datagrams of \(queue.pendingBytes) bytes are queued already; the limit is "
                    + "\(configuration.sendQueueLimit) bytes")
        }
    }

    /// What an endpoint means to the queue.
    func target(of endpoint: Endpoint, operation: String = "send") throws(SocketError) -> DatagramQueue.Target {
        let address = try engine.address(of: endpoint.toSend, configuration.families, operation: operation)
        return address.map { .address($0) } ?? .name
    }

    /// Asks for the addresses of a name; the datagrams behind wait, in their order, while other names are resolved.
    func resolve(_ endpoint: Endpoint, for operation: OperationID) {
        guard case .host(let host, let port) = endpoint.toSend else { return }
        let (id, mailbox, requestTurn) = (id, engine.mailbox, engine.requestTurn)
        engine.resolver.resolve(host: host, port: port) { result in
            if mailbox.post(.datagram(.resolved(id, operation, result))) == .turn { requestTurn() }
        }
    }

    func resolved(_ operation: OperationID, _ result: Result<[SocketAddress], SocketError>) {
        queue.resolved(operation, result.flatMap(choose))
        askForFlush()
        finishStep()
    }

    /// Of the addresses of a name, the first of a family that can be used, the preferred one first.
    private func choose(_ addresses: [SocketAddress]) -> Result<SocketAddress, SocketError> {
        let isSettled = isBound || peer != nil
        let usable = addresses.filter { address in
            configuration.allows(address)
                && (!isSettled || links.contains { $0.family.isSameFamily(as: address) })
        }
        let preferred = configuration.prefersIPv6.flatMap { prefersIPv6 in
            usable.first { ($0.family == .v6) == prefersIPv6 }
        }
        if let address = preferred ?? usable.first { return .success(address) }
        let found = addresses.map(\.description).joined(separator: ", ")
        return .failure(.refused("send", "\(found): wrong address family for this socket"))
    }

    // MARK: Sending

    func askForFlush() {
        guard !isClosed, queue.count > 0, !isQueuedForFlush else { return }
        isQueuedForFlush = true
        engine.unflushedDatagrams.append(self)
    }

    /// The turn's end: sends what can be sent.
    func flush() {
        isQueuedForFlush = false
        guard !isClosed, !waitsForOthers else { return }
        send()
        finishStep()
    }

    func unblock(_ link: Link) {
        guard link.isBlocked else { return }
        link.isBlocked = false
        record(.writeUnblocked)
    }

    /// Whether a descriptor is going to report that it is this socket's turn again.
    private var waitsForOthers: Bool { isSendBudgetSpent && canReportRoom }

    private var canReportRoom: Bool { links.contains { !$0.isBlocked } }

    /// Performs what the queue asks for, until it waits, or it is others' turn.
    func send() {
        // User code that judges a datagram or prepares a descriptor may enter the engine; what it is about comes first.
        guard !isJudging, !isPreparing else { return }
        var (batches, answers) = (0, 0)
        while batches < Self.sendBudget, answers < Self.answerBudget {
            guard !isClosed else { return }
            if engine.isSpent { break }
            let filter = sendFilter
            switch queue.next(peer: peer, isFiltered: filter != nil) {
            case .wait: return
            case .refuse(let error): refuse(error)
            case .judge(let datagram): judge(datagram, filter)
            case .connect(let address): performConnect(to: address)
            case .send:
                batches += 1
                guard sendBatch(isFiltered: filter != nil) else { return }
            }
            answers += 1
        }
        if queue.count > 0 { comeBackLater() }
    }

    /// The user may replace it meanwhile, and this may be its last reference then.
    private var sendFilter: DatagramSendFilter? {
        let filter = shared.sendFilter
        engine.retire(filter)
        return filter?.value
    }

    /// The budget is used up: write interest makes the reactor come back after all other sockets. Where no descriptor can
    /// report that there is room, the timer does, in the next turn.
    private func comeBackLater() {
        if canReportRoom { isSendBudgetSpent = true } else { retryTime = engine.now + .nanoseconds(1) }
    }

    private func refuse(_ error: SocketError) {
        let entry = queue.takeFirst(engine.now)
        if entry.isConnect { notify(.notConnected(error)) } else { fail(entry, error) }
    }

    /// One system call; false when nothing more can be sent now.
    private func sendBatch(isFiltered: Bool) -> Bool {
        let destination = queue.destination(peer: peer)
        let link: Link
        do throws(SocketError) {
            guard let present = try self.link(to: destination) else { return true }
            link = present
        } catch {
            fail(queue.takeFirst(engine.now), error)
            return true
        }
        guard !link.isBlocked else { return false }
        let isSameWay: (SocketAddress?) -> Bool = { $0?.isSameFamily(as: link.family) ?? true }
        let (result, destinations) = queue.withReady(
            most: isFiltered ? 1 : Self.batchLimit, peer: peer, isSameWay: isSameWay
        ) { datagrams in
            (engine.kernel.sendDatagrams(link.socket.descriptor, datagrams), datagrams.map(\.destination))
        }
        switch result {
        case .bytes(let count):
            if link.local?.port == 0 { learnLocal(link) }
            for destination in destinations.prefix(count) { completeFirst(to: destination ?? peer) }
            return count > 0
        case .wouldBlock:
            isBlocked(link)
            return false
        case .failed(let errno):
            let datagram = queue.takeFirst(engine.now)
            fail(datagram, describe(errno, datagram, to: destination ?? peer))
            return true
        }
    }

    /// The descriptor that sends there; nil: it was opened just now, or could not be, and user code that prepared it may
    /// have changed anything, so that all has to be looked at again.
    private func link(to destination: SocketAddress?) throws(SocketError) -> Link? {
        guard let destination else { return links[0] }
        if let link = link(like: destination) { return link }
        let first = queue.first
        do throws(SocketError) {
            _ = try link(for: destination)
        } catch {
            if !isClosed, queue.first == first { throw error }
        }
        return nil
    }

    /// The kernel gave it a port with its first datagram.
    private func learnLocal(_ link: Link) {
        link.local = engine.kernel.localAddress(link.socket.descriptor)
        if !isBound { record(.bound) }
    }

    private func completeFirst(to address: SocketAddress?) {
        let datagram = queue.complete(now: engine.now)
        let count = datagram.bytes.count
        counters.sent += 1
        sent += UInt64(count)
        engine.counters.sent += UInt64(count)
        if let address { peers.sent(to: address, bytes: count, now: engine.now) }
        record(.datagramSent, tag: datagram.tag, count)
        tape(datagram.bytes, isSent: true, address, length: count)
        traffic?.record(
            datagram.operation, direction: .sent, tag: datagram.tag, kind: .write, done: count, total: count,
            state: .complete(after: engine.now - datagram.queued), now: engine.now, address: address
        ) { datagram.bytes.part($0) }
        notify(.sent(datagram.operation, tag: datagram.tag))
    }

    private func isBlocked(_ link: Link) {
        link.isBlocked = true
        record(.writeBlocked, queue.pendingBytes)
        // The full queue is that of a Unix-domain receiver. epoll looks at the sender's own buffer, which has room, and
        // would report that again and again.
        if link.family.family.row.waitsForReceiver { retryTime = engine.now + Self.retryPause }
    }

    /// A refusal in words that name the datagram's size and destination.
    private func describe(_ errno: Int32, _ datagram: QueuedDatagram, to address: SocketAddress?) -> SocketError {
        let subject = address.map { SocketError.Subject.address($0) } ?? .name("the peer")
        guard errno == EMSGSIZE else { return .system(errno, operation: "send", subject: subject) }
        let most = address.flatMap { address in
            address.family.row.mostSent.map { "; UDP over \(address.family.row.domain.rawValue) carries at most \($0)" }
        }
        let whom = address?.description ?? "the peer"
        return .system(errno, operation: "send", subject: "\(datagram.bytes.count) bytes to \(whom)\(most ?? "")")
    }

    // MARK: The filter

    private func judge(_ datagram: QueuedDatagram, _ filter: DatagramSendFilter?) {
        guard let filter else { return judged(datagram.operation, passes: true) }
        guard let queue = filter.queue else {
            isJudging = true
            let passes = engine.runUserCode { filter.shouldSend(datagram.bytes, datagram.destination, datagram.tag) }
            isJudging = false
            return holdBack(datagram.operation, unless: passes)
        }
        let (id, mailbox, requestTurn) = (id, engine.mailbox, engine.requestTurn)
        queue.async {
            let passes = filter.shouldSend(datagram.bytes, datagram.destination, datagram.tag)
            if mailbox.post(.datagram(.sendJudged(id, datagram.operation, passes: passes))) == .turn { requestTurn() }
        }
    }

    func judged(_ operation: OperationID, passes: Bool) {
        holdBack(operation, unless: passes)
        askForFlush()
        finishStep()
    }

    private func holdBack(_ operation: OperationID, unless passes: Bool) {
        guard let held = queue.judged(operation, passes: passes, now: engine.now) else { return }
        counters.filteredOut += 1
        record(.datagramsDropped, tag: held.tag, 1, 3)
        notify(.sent(held.operation, tag: held.tag))
    }

    // MARK: Failing

    func fail(_ datagram: QueuedDatagram, _ error: SocketError) {
        if datagram.isConnect { return notify(.notConnected(error)) }
        fail(datagram.failed(error))
    }

    func fail(_ failed: FailedDatagram) {
        counters.failed += 1
        let errno = if case .system(let errno) = failed.error.reason { Int(errno) } else { 0 }
        record(.datagramFailed, tag: failed.tag, failed.bytes.count, errno)
        traffic?.record(
            failed.operation, direction: .sent, tag: failed.tag, kind: .write, done: failed.bytes.count,
            total: failed.bytes.count, state: .failed(failed.error.detail), now: engine.now,
            address: failed.destination.flatMap(\.numericAddress) ?? peer ?? .unnamed
        ) { failed.bytes.part($0) }
        notify(.notSent(failed))
    }

    /// Ends what is queued before it is sent.
    func cancel(_ target: SocketCommand.CancelTarget) {
        let error = SocketError(.cancelled, operation: "send", detail: "cancelled")
        switch target {
        case .operation(let operation):
            if let entry = queue.remove(operation, now: engine.now) { fail(entry, error) }
        case .writes:
            while let last = queue.last, let entry = queue.remove(last, now: engine.now) { fail(entry, error) }
        case .reads: receive(.paused)
        }
        askForFlush()
        finishStep()
    }
}
