import SocketCore

/// All ways of a stream's commands into the engine. WebSockets and datagram sockets post jobs of their own kinds.
///
/// A command from another thread is posted under the handle's lock, which a move takes too. No thread can therefore
/// look up where the socket lives and post there after it has moved. User code within a turn needs neither a post nor
/// the lock, because no other thread can move the socket meanwhile.
extension AsyncSocket {
    /// How a command reaches the engine.
    private enum Way {
        /// The caller is user code within a turn of the engine, so no other thread can move the socket meanwhile.
        case within(BorrowedReference<SocketEngine>, SocketID?)
        /// The command was posted, and nothing must follow.
        case posted
        /// The command was posted, and something must follow.
        case needing(SocketEngine, Mailbox.Need)
    }

    /// Gives the engine a command for the current session and returns its identifier. Without a session, the command is
    /// for one that is never found.
    @discardableResult
    func ask(_ action: @autoclosure () -> SocketCommand.Action) -> OperationID {
        submit(action(), closesPieces: true) { _, _, _ in false }
    }

    /// Gives the engine a command and returns its identifier. `closesPieces` is `false` if it takes no bytes of the
    /// stream, so that a task can still fetch the pieces it was handed. `queue` is the short way for user code within a
    /// turn, and returns `false` if it cannot be taken.
    func submit(
        _ action: @autoclosure () -> SocketCommand.Action, closesPieces: Bool,
        queue: (EngineState, SocketID, OperationID) -> Bool
    ) -> OperationID {
        var operation = OperationID(0)
        let way = state.withLock { state -> Way in
            operation = state.engine.names.nextOperation()
            if closesPieces { state.closePieces() }
            if state.engine.isWithinTurn { return .within(BorrowedReference(state.engine), state.session) }
            return post(action(), as: operation, takesBytes: closesPieces, &state)
        }
        switch way {
        case .posted: break
        case .needing(let engine, let need): engine.meet(need)
        case .within(let engine, let session):
            engine { engine in
                if let session, engine.atOnce({ queue($0, session, operation) }) { return }
                submit(action(), as: operation, takesBytes: closesPieces, within: engine, session)
            }
        }
        return operation
    }

    /// Gives the engine a command whose completion goes to `answer` instead of the delegate.
    func ask(
        _ action: SocketCommand.Action, as operation: OperationID, wanting wanted: PiecesWanted? = nil,
        answer: @escaping OperationAnswer
    ) {
        let isRead = if case .read = action { true } else { false }
        let way = state.withLock { state -> Way in
            if isRead { state.closePieces() }
            state.changeAwaited { $0.add(operation, isRead: isRead, wanting: wanted, answer) }
            if state.engine.isWithinTurn { return .within(BorrowedReference(state.engine), state.session) }
            return post(action, as: operation, takesBytes: isRead, &state)
        }
        switch way {
        case .posted: break
        case .needing(let engine, let need): engine.meet(need)
        case .within(let engine, let session):
            engine { submit(action, as: operation, takesBytes: isRead, within: $0, session) }
        }
    }

    private func submit(
        _ action: SocketCommand.Action, as operation: OperationID, takesBytes: Bool, within engine: SocketEngine,
        _ session: SocketID?
    ) {
        let command = SocketCommand(session ?? SocketID(0), action)
        if engine.atOnce({ $0.performAtOnce(command, of: self, as: operation) }) { return }
        let way = state.withLock { post(action, as: operation, takesBytes: takesBytes, &$0) }
        if case .needing(let engine, let need) = way { engine.meet(need) }
    }

    /// Posts a command. Called under the handle's lock.
    private func post(
        _ action: SocketCommand.Action, as operation: OperationID, takesBytes: Bool, _ state: inout SocketHandleState
    ) -> Way {
        let engine = state.engine
        let need = engine.mailbox.post(
            .ask(self, SocketCommand(state.session ?? SocketID(0), action), operation))
        // Perhaps the place of a later job, which does no harm.
        if takesBytes { state.noteRequest(at: engine.mailbox.posted) }
        return need == .nothing ? .posted : .needing(engine, need)
    }
}
