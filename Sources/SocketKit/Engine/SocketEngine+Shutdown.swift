import SocketCore

extension SocketEngine {
    /// Ends everything in order, and returns when the engine has no session left. Listeners stop, connections close
    /// once their queued writes are sent, WebSockets send Close with 1001, and datagram sockets close once everything
    /// is sent.
    ///
    /// What is left after `limit` (`nil` for no limit), or when the task is cancelled, closes at once. The engine
    /// itself lives on, and sessions that start meanwhile are waited for too. The graceful shutdown of a service calls
    /// this.
    public func shutdown(within limit: Duration? = nil) async {
        endSessions(isOrderly: true)
        await withTaskGroup { group in
            if let limit {
                group.addTask { [self] in
                    try? await Task.sleep(for: limit)
                    if !Task.isCancelled { endSessions(isOrderly: false) }
                }
            }
            await waitUntilEmpty()
            group.cancelAll()
        }
    }

    private func waitUntilEmpty() async {
        await waitForAnswer(orIfCancelled: endSessions(isOrderly: false)) { answer in
            enter { $0.answerWhenEmpty(answer) }
        } onCancel: { [self] in
            endSessions(isOrderly: false)
        }
    }

    private func endSessions(isOrderly: Bool) {
        enter { $0.endSessions(isOrderly: isOrderly) }
    }
}

extension EngineState {
    fileprivate func endSessions(isOrderly: Bool) {
        let mode = isOrderly ? CloseMode.afterWriting : .now
        let open = sessions.inOrder()
        for acceptor in open.lazy.compactMap(\.acceptor) { perform(SocketCommand(acceptor.id, .close(.now))) }
        for session in open.lazy.compactMap(\.datagrams) { perform(SocketCommand(session.id, .close(mode))) }
        for connection in open.lazy.compactMap(\.connection) {
            if isOrderly, !connection.layers.isTakenByHandle {
                perform(SocketCommand(connection.id, .webSocket(.close(.goingAway, reason: ""))))
            } else {
                perform(SocketCommand(connection.id, .close(mode)))
            }
        }
    }

    /// Answers once there is no session, which may be now.
    fileprivate func answerWhenEmpty(_ answer: @escaping Answer<Void>) {
        waitersForEmpty.append(answer)
        answerIfEmpty()
    }

    /// Answers tasks that wait for an engine without sessions. Called at the end of each turn.
    func answerIfEmpty() {
        guard !waitersForEmpty.isEmpty, sessions.isEmpty else { return }
        let waiters = waitersForEmpty
        waitersForEmpty = []
        for answer in waiters { answer(()) }
    }
}
