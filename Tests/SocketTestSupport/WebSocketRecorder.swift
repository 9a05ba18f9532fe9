import SocketKit

/// A delegate of WebSockets and their listeners that writes down every call, in order. It keeps what was accepted.
package final class WebSocketRecorder: WebSocketDelegate, WebSocketListenerDelegate {
    /// One call, without the WebSocket.
    package enum Call: Equatable, Sendable {
        case opened(subprotocol: String?)
        case message(WebSocketMessage)
        case chunk([UInt8], isFinal: Bool)
        case ping([UInt8])
        case pong([UInt8], isMeasured: Bool)
        case sent(OperationID)
        case failed(OperationID, SocketError.Reason)
        case writable
        case peerClosed(WebSocketCloseFrame)
        case closed(WebSocketCloseCode?, SocketError.Reason?)
        case accepted(subprotocol: String?)
        case refused(SocketError.Reason?)
        case stopped
    }

    private struct State {
        var calls: [Call] = []
        var webSockets: [WebSocket] = []
        var reports: [WebSocketCloseReport?] = []
        var errors: [SocketError] = []
        var agreement: WebSocketAgreement?
        var chunkBytes = 0
    }

    private let state = Lock(State())
    private let keepsChunks: Bool
    private let onAccept: @Sendable (WebSocket) -> Void
    private let onCall: @Sendable (WebSocket, Call) -> Void

    /// Runs the closures inside the callbacks they are named for; an accepted WebSocket gets this as its delegate.
    package init(
        keepsChunks: Bool = true, onAccept: @escaping @Sendable (WebSocket) -> Void = { _ in },
        onCall: @escaping @Sendable (WebSocket, Call) -> Void = { _, _ in }
    ) {
        self.keepsChunks = keepsChunks
        self.onAccept = onAccept
        self.onCall = onCall
    }

    /// One that sends every message back.
    package static func echo() -> WebSocketRecorder {
        WebSocketRecorder(onCall: { webSocket, call in
            if case .message(let message) = call { webSocket.write(message) }
        })
    }

    /// Every call so far, those about what was sent set aside.
    package var calls: [Call] {
        state.withLock { state in
            state.calls.filter { if case .sent = $0 { false } else { true } }
        }
    }
    /// What was sent, by the names of the operations.
    package var sent: [OperationID] {
        state.withLock { $0.calls.compactMap { if case .sent(let operation) = $0 { operation } else { nil } } }
    }
    /// Messages that came.
    package var messages: [WebSocketMessage] {
        state.withLock { $0.calls.compactMap { if case .message(let message) = $0 { message } else { nil } } }
    }
    /// What was accepted.
    package var webSockets: [WebSocket] { state.withLock { $0.webSockets } }
    /// How the last one ended; nil: none has, or it never was open.
    package var report: WebSocketCloseReport? { state.withLock { $0.reports.last ?? nil } }
    /// How often one ended.
    package var endings: Int { state.withLock { $0.reports.count } }
    /// Errors that were told.
    package var errors: [SocketError] { state.withLock { $0.errors } }
    /// What the last one agreed on.
    package var agreement: WebSocketAgreement? { state.withLock { $0.agreement } }
    /// Bytes of all chunks.
    package var chunkBytes: Int { state.withLock { $0.chunkBytes } }

    /// Lets go of what was accepted.
    package func releaseAll() {
        _ = state.withLock { state in
            defer { state.webSockets = [] }
            return state.webSockets
        }
    }

    private func note(_ webSocket: WebSocket, _ call: Call) {
        state.withLock { $0.calls.append(call) }
        onCall(webSocket, call)
    }

    package func webSocket(_ webSocket: WebSocket, didOpen agreement: WebSocketAgreement) {
        state.withLock { $0.agreement = agreement }
        note(webSocket, .opened(subprotocol: agreement.subprotocol))
    }

    package func webSocket(_ webSocket: WebSocket, didReceive message: WebSocketMessage) {
        note(webSocket, .message(message))
    }

    package func webSocket(_ webSocket: WebSocket, didReceive chunk: WebSocketChunk) {
        state.withLock { $0.chunkBytes += chunk.bytes.count }
        if keepsChunks || chunk.isFinal {
            note(webSocket, .chunk(keepsChunks ? chunk.bytes : [], isFinal: chunk.isFinal))
        }
    }

    package func webSocket(_ webSocket: WebSocket, didReceivePing payload: [UInt8]) { note(webSocket, .ping(payload)) }

    package func webSocket(_ webSocket: WebSocket, didReceivePong payload: [UInt8], roundTrip: Duration?) {
        note(webSocket, .pong(payload, isMeasured: roundTrip != nil))
    }

    package func webSocket(_ webSocket: WebSocket, didSend operation: OperationID) { note(webSocket, .sent(operation)) }

    package func webSocket(_ webSocket: WebSocket, didFail operation: OperationID, error: SocketError) {
        state.withLock {
            $0.errors.append(error)
            $0.calls.append(.failed(operation, error.reason))
        }
        onCall(webSocket, .failed(operation, error.reason))
    }

    package func webSocketDidBecomeWritable(_ webSocket: WebSocket) { note(webSocket, .writable) }

    package func webSocket(_ webSocket: WebSocket, didReceiveClose frame: WebSocketCloseFrame) {
        note(webSocket, .peerClosed(frame))
    }

    package func webSocket(_ webSocket: WebSocket, didClose report: WebSocketCloseReport?, error: SocketError?) {
        state.withLock { state in
            state.reports.append(report)
            if let error { state.errors.append(error) }
        }
        note(webSocket, .closed(report?.code, error?.reason))
    }

    package func listener(
        _ listener: WebSocketListener, didAccept webSocket: WebSocket, agreement: WebSocketAgreement
    ) {
        state.withLock { state in
            state.agreement = agreement
            state.webSockets.append(webSocket)
            state.calls.append(.accepted(subprotocol: agreement.subprotocol))
        }
        webSocket.delegate = self
        onAccept(webSocket)
    }

    package func listener(_ listener: WebSocketListener, didRefuse address: SocketAddress?, error: SocketError?) {
        state.withLock { state in
            if let error { state.errors.append(error) }
            state.calls.append(.refused(error?.reason))
        }
    }

    package func listener(_ listener: WebSocketListener, didStop error: SocketError?) {
        state.withLock { $0.calls.append(.stopped) }
    }
}
