import SocketCore

/// What other threads ask of datagram sockets, and what comes back from where the engine asked.
enum DatagramJob: Sendable {
    /// A handle has something to send; its session begins with that, where it has none.
    case send(DatagramSocket, DatagramRequest, OperationID)
    /// A handle takes back what it queued.
    case cancel(DatagramSocket, OperationID)
    /// A handle closes once all that it queued is sent.
    case closeAfterSending(DatagramSocket)
    /// A name was resolved, or could not be.
    case resolved(SocketID, OperationID, Result<[SocketAddress], SocketError>)
    /// The send filter has judged a datagram.
    case sendJudged(SocketID, OperationID, passes: Bool)
    /// The receive filter has judged a batch: what of it passes.
    case receiveJudged(SocketID, DatagramBatch)
}

extension EngineState {
    func perform(_ job: DatagramJob) {
        switch job {
        case .send(let handle, let request, let operation):
            counters.commands += 1
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

    /// The session of a handle; a new one where it has none.
    func session(of handle: DatagramSocket) -> DatagramSession {
        if let session = handle.session.flatMap({ datagramSession($0) }) { return session }
        let session = DatagramSession(
            id: nextSocketID(), engine: self, handle: handle, target: "", configuration: handle.configuration)
        sessions[session.id] = .datagrams(session)
        handle.sessionBegan(session.id)
        return session
    }

    /// Runs `body` with the session of a handle. When it throws, a session that began with this call leaves no trace, save
    /// where `prepareDescriptor` has sent something: then it is the session of that.
    func withSession<R>(
        of handle: DatagramSocket, _ body: (DatagramSession) throws(SocketError) -> R
    ) throws(SocketError) -> R {
        let isNew = handle.session == nil
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

    /// The index of an interface, or why there is none.
    func interfaceIndex(_ name: String, _ operation: String) throws(SocketError) -> UInt32 {
        if let index = resolver.index(ofInterface: name) { return index }
        throw .refused(operation, "interface \(name): there is none of that name or address")
    }
}
