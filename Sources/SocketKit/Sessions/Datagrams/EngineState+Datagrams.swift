import SocketCore

/// A request from another thread, or the result of a request by the engine.
enum DatagramJob: Sendable {
    /// A handle sends a datagram. Its session begins with this job if it has none.
    case send(DatagramSocket, DatagramRequest, OperationID)
    /// A handle cancels an operation that it queued.
    case cancel(DatagramSocket, OperationID)
    /// A handle closes once everything it queued has been sent.
    case closeAfterSending(DatagramSocket)
    /// A name was resolved, or resolving it failed.
    case resolved(SocketID, OperationID, Result<[SocketAddress], SocketError>)
    /// The send filter has evaluated a datagram.
    case sendJudged(SocketID, OperationID, passes: Bool)
    /// The receive filter has evaluated a batch, and this is what passes.
    case receiveJudged(SocketID, DatagramBatch)
}

extension EngineState {
    func perform(_ job: DatagramJob) {
        switch job {
        case .send(let handle, let request, let operation):
            counters.commands += 1
            // If this fails, so does the datagram.
            try? checkReactor("send")
            session(of: handle).queue(request, as: operation)
        case .cancel(let handle, let operation):
            handle.session.flatMap { datagramSession($0) }?.cancel(.operation(operation))
        case .closeAfterSending(let handle):
            counters.commands += 1
            handle.session.flatMap { datagramSession($0) }?.askToClose(.afterWriting)
        case .resolved(let id, let operation, let result): datagramSession(id)?.resolved(operation, result)
        case .sendJudged(let id, let operation, let passes): datagramSession(id)?.judged(operation, passes: passes)
        case .receiveJudged(let id, let batch): datagramSession(id)?.judged(batch)
        }
    }

    /// Returns the session of a handle. Creates one if there is none.
    func session(of handle: DatagramSocket) -> DatagramSession {
        if let session = handle.session.flatMap({ datagramSession($0) }) { return session }
        let session = DatagramSession(
            id: nextSocketID(), engine: self, handle: handle, target: "", configuration: handle.configuration)
        sessions[session.id] = .datagrams(session)
        handle.sessionBegan(session.id)
        return session
    }

    /// Runs `body` with the session of a handle. If `body` throws, a session that began with this call leaves no trace,
    /// unless `prepareDescriptor` has queued something on it.
    func withSession<R>(
        of handle: DatagramSocket, _ body: (DatagramSession) throws(SocketError) -> R
    ) throws(SocketError) -> R {
        let isNew = handle.session == nil
        if isNew { try checkReactor("open") }
        let session = session(of: handle)
        do throws(SocketError) {
            let result = try body(session)
            session.finishStep()
            return result
        } catch {
            if isNew, !session.isClosed, session.queue.count == 0 { session.abandon() } else { session.finishStep() }
            throw error
        }
    }

    /// Returns the index of an interface, or throws if there is none.
    func interfaceIndex(_ name: String, _ operation: String) throws(SocketError) -> UInt32 {
        if let index = resolver.index(ofInterface: name) { return index }
        throw .refused(operation, "interface \(name): no interface has that name or address")
    }
}
