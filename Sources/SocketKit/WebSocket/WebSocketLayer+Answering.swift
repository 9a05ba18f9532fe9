import SocketCore

/// The server's side of the opening handshake.
extension WebSocketLayer {
    func follow(
        _ step: ServerHandshake.Step, _ handshake: ServerHandshake, _ bytes: RawSpan, on connection: Connection
    ) {
        switch step {
        case .wait: stage = .answering(handshake)
        case .request(let request, let taken):
            self.request = request.head
            let early = bytes.extracting(taken..<bytes.byteCount).withUnsafeBytes { Array($0) }
            stage = .deciding(request, early: early)
            // User code decides next, so nothing can be lent and no more bytes can be received until it has.
            connection.isHeldBack = true
            askToProceed(on: connection)
        case .refused(let answer, let problem):
            refuse(answer, problem, on: connection)
        }
    }

    /// Answers the request according to the user's hook and RFC 6455.
    func decide(_ request: WebSocketRequest, _ early: [UInt8], on connection: Connection) {
        guard !connection.machine.isClosed else { return }
        defer { connection.handleDelegateCaughtUp() }
        var fields: [HTTPField] = []
        let verdict = configuration.answer?(request) ?? .upgrade()
        // User code has ended the connection.
        guard !connection.machine.isClosed else { return }
        // The listener has stopped, so it could not deliver this WebSocket.
        let engine = connection.engine
        guard handle.load(in: engine) != nil, listener.load(in: engine)?.session == connection.origin.facts.parent
        else {
            return connection.close(error: nil)
        }
        switch verdict {
        case .http(let answer):
            let fault = answer.fault.map { HTTPResponse(status: 500, text: "the server's own response: \($0)\n") }
            return refuse(fault ?? answer, nil, isHead: request.method == "HEAD", on: connection)
        case .upgrade(let own): fields = own
        }
        if let refusal = refusal(of: request, fields) {
            return refuse(refusal, String(decoding: refusal.body.dropLast(), as: UTF8.self), on: connection)
        }
        let wishes = configuration.compression?.answer(to: request.extensions.joined(separator: ", "))
        let subprotocol = request.subprotocols.first { configuration.subprotocols.contains($0) }
        let answer = request.answer(
            accept: Digests.webSocketAccept(for: request.key), subprotocol: subprotocol, extensions: wishes?.header,
            fields: fields)
        response = answer
        write(answer.bytes, on: connection)
        let agreement = WebSocketAgreement(
            subprotocol: subprotocol, extensions: wishes.map { [$0.header] } ?? [], request: request.head,
            response: answer)
        opened(agreement, wishes?.agreed, on: connection)
        if !early.isEmpty { receive(early.span.bytes, on: connection) }
    }

    private func refusal(of request: WebSocketRequest, _ fields: [HTTPField]) -> HTTPResponse? {
        if let refusal = request.refusal { return refusal }
        if let allowed = configuration.allowedOrigins, let origin = request.origin, !allowed.contains(origin) {
            return HTTPResponse(status: 403, text: "the origin is not allowed\n")
        }
        var own = WebSocketOpening()
        own.fields = fields
        return own.fault.map { HTTPResponse(status: 500, text: "the server's own fields: \($0)\n") }
    }

    /// Answers with plain HTTP and closes. `problem` is `nil` if user code chose that answer.
    private func refuse(
        _ answer: HTTPResponse, _ problem: String?, isHead: Bool = false, on connection: Connection
    ) {
        let bytes = answer.bytes(isHead: isHead)
        response = HTTPHead(
            startLine: "HTTP/1.1 \(answer.status) \(HTTPResponse.reason(answer.status))", fields: answer.fields)
        self.problem = problem.map {
            SocketError(
                .webSocket(.badHandshake), operation: "handshake",
                detail: "\(connection.peer?.description ?? connection.target): answered \(answer.status): \($0)")
        }
        stage = .over
        let patience = configuration.settings.closeTimeout
        let now = connection.engine.now
        openDeadline = now + patience
        unsentAnswer = (bytes.count, now + patience + .seconds(bytes.count >> 14))
        write(bytes, on: connection)
        connection.askToClose(.afterWriting)
    }

    /// Closes the connection unless the answer has made progress and averages at least 16 KiB a second.
    func expireAnswer(_ sent: (left: Int, due: MonotonicTime), on connection: Connection) {
        let now = connection.engine.now
        guard let due = openDeadline, due <= now else { return }
        let left = connection.machine.pendingWriteBytes
        if left < sent.left, now < sent.due {
            unsentAnswer = (left, sent.due)
            openDeadline = min(now + configuration.settings.closeTimeout, sent.due)
            return
        }
        openDeadline = nil
        connection.close(
            error: SocketError(
                .writeTimeout, operation: "handshake",
                detail: "\(connection.peer?.description ?? connection.target): the response was not accepted, "
                    + "\(left) bytes of it are unsent"))
    }
}
