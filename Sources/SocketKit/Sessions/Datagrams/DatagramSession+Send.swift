import Glibc
import SocketCore

/// Interprets the send queue.
extension DatagramSession {
    /// The most batches before other sockets get their share of the turn.
    private static let sendBudget = 16
    /// The most datagrams rejected or filtered before other sockets get their share. They cost no system call.
    private static let answerBudget = 1_024
    /// The most datagrams in one system call.
    private static let batchLimit = 64
    /// How long to wait if the kernel doesn't report room.
    private static let retryPause = Duration.milliseconds(5)

    // MARK: Queueing

    /// Queues a datagram. It is tried at the end of the turn, together with the turn's other datagrams.
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
                detail: "\(queue.count) datagrams of \(queue.pendingBytes) bytes are already queued; the limit is "
                    + "\(configuration.sendQueueLimit) bytes")
        }
    }

    /// Returns the address of an endpoint, or that it is a name to resolve.
    func target(of endpoint: Endpoint, operation: String = "send") throws(SocketError) -> DatagramQueue.Target {
        let address = try engine.address(of: endpoint.toSend, configuration.families, operation: operation)
        return address.map { .address($0) } ?? .name
    }

    /// Resolves a name. The datagrams behind it wait in order, while other names are resolved.
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

    /// Chooses the first of a name's addresses whose family can be used, with the preferred family first.
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

    /// Sends what can be sent. Called at the end of the turn.
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

    /// Whether a descriptor will report that it is this socket's turn again.
    private var waitsForOthers: Bool { isSendBudgetSpent && canReportRoom }

    private var canReportRoom: Bool { links.contains { !$0.isBlocked } }

    /// Performs what the queue requests, until it waits or other sockets must have their turn.
    func send() {
        // A filter or `prepareDescriptor` may reenter the engine. What it is called for comes first.
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

    /// The filter, retired because the caller may replace it while it is in use.
    private var sendFilter: DatagramSendFilter? {
        let filter = shared.sendFilter
        engine.retire(filter)
        return filter?.value
    }

    /// Continues later, because the budget is used up. Write interest makes the reactor return here after all other
    /// sockets. If no descriptor can report room, a timer does in the next turn.
    private func comeBackLater() {
        if canReportRoom { isSendBudgetSpent = true } else { retryTime = engine.now + .nanoseconds(1) }
    }

    private func refuse(_ error: SocketError) {
        let entry = queue.takeFirst(engine.now)
        if entry.isConnect { notify(.notConnected(error)) } else { fail(entry, error) }
    }

    /// Sends one batch. Returns false if nothing more can be sent now.
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

    /// Returns the descriptor that sends there, or `nil` if it was just opened or could not be. User code that prepared
    /// it may then have changed anything, so check the queue again.
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

    /// Notes the port that the kernel assigned with the first datagram.
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
        // The full queue is the Unix-domain receiver's. epoll checks the sender's buffer, which has room, so write
        // interest would fire continuously. Retry on a timer instead.
        if link.family.family.row.waitsForReceiver { retryTime = engine.now + Self.retryPause }
    }

    /// Returns an error that names the datagram's size and destination.
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

    /// Cancels datagrams that are still queued. Cancelling reads pauses receiving.
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
