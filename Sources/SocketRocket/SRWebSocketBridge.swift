internal import SocketKit
internal import SocketKitFoundation

/// Forwards a `WebSocket`'s callbacks to the delegate of its `SRWebSocket`. It runs on the queue of the `WebSocket`'s
/// callbacks.
final class SRWebSocketBridge: WebSocketDelegate {
    private let owner = Lock(WeakOwner())

    private struct WeakOwner {
        weak var webSocket: SRWebSocket?
    }

    /// Sets the `SRWebSocket` whose delegate is called.
    func serve(_ webSocket: SRWebSocket) { owner.withLock { $0.webSocket = webSocket } }

    /// Calls the delegate, here or in its operation queue, and waits until the call returns. Callbacks thus stay in
    /// order, and messages that the delegate isn't ready for stay in the kernel.
    private func tell(isLast: Bool = false, _ body: @escaping @Sendable (SRWebSocket, any SRWebSocketDelegate) -> Void)
    {
        guard let webSocket = owner.withLock({ $0.webSocket }) else { return }
        let call = { @Sendable in
            if let delegate = webSocket.delegate { body(webSocket, delegate) }
            if isLast { webSocket.end() }
        }
        guard let operations = webSocket.delegateOperationQueue else { return call() }
        operations.addOperations([BlockOperation(block: call)], waitUntilFinished: true)
    }

    /// Reports that the WebSocket did not open, or failed.
    func fail(_ error: NSError) {
        tell(isLast: true) { $1.webSocket($0, didFailWithError: error) }
    }

    func webSocket(_ webSocket: WebSocket, didOpen agreement: WebSocketAgreement) {
        owner.withLock { $0.webSocket }?.received(agreement.response)
        tell { $1.webSocketDidOpen($0) }
    }

    func webSocket(_ webSocket: WebSocket, didReceive message: WebSocketMessage) {
        tell { webSocket, delegate in
            if message.type == .text, delegate.webSocketShouldConvertTextFrameToString(webSocket) {
                let text = message.text
                delegate.webSocket(webSocket, didReceiveMessage: text)
                delegate.webSocket(webSocket, didReceiveMessageWith: text)
            } else {
                let data = message.data
                delegate.webSocket(webSocket, didReceiveMessage: data)
                delegate.webSocket(webSocket, didReceiveMessageWith: data)
            }
        }
    }

    func webSocket(_ webSocket: WebSocket, didReceivePing payload: [UInt8]) {
        tell { $1.webSocket($0, didReceivePingWith: payload.isEmpty ? nil : Data(payload)) }
    }

    func webSocket(_ webSocket: WebSocket, didReceivePong payload: [UInt8], roundTrip: Duration?) {
        tell { $1.webSocket($0, didReceivePong: payload.isEmpty ? nil : Data(payload)) }
    }

    func webSocket(_ webSocket: WebSocket, didReceive trust: TLSTrust) -> TrustVerdict {
        guard let owner = owner.withLock({ $0.webSocket }) else { return .refuse }
        let policy = owner.policy.object
        if policy.validatesChain, trust.problem != nil { return .refuse }
        let host = owner.request.url?.host ?? ""
        return policy.evaluateServerTrust(SRServerTrust(trust), forDomain: host) ? .accept : .refuse
    }

    func webSocket(_ webSocket: WebSocket, didClose report: WebSocketCloseReport?, error: SocketError?) {
        if case .webSocket(.refused(let refusal)) = error?.reason {
            owner.withLock { $0.webSocket }?.received(refusal.head)
        }
        switch SRWebSocketEnd(report, error) {
        case .failed(let error): fail(error)
        case .closed(let code, let reason, let wasClean):
            tell(isLast: true) { $1.webSocket($0, didCloseWithCode: code, reason: reason, wasClean: wasClean) }
        }
    }
}

/// The last callback that SocketRocket makes for an end.
enum SRWebSocketEnd {
    case failed(NSError)
    case closed(Int, reason: String?, wasClean: Bool)

    init(_ report: WebSocketCloseReport?, _ error: SocketError?) {
        if let report, let received = report.received {
            let reason = received.reason.isEmpty ? nil : received.reason
            self = .closed(Int(report.code.rawValue), reason: reason, wasClean: report.wasClean)
        } else if let error, Self.isFailure(error) {
            self = .failed(Self.error(error))
        } else if report?.failure == .endedWithoutClose {
            let code = SRStatusCode.codeGoingAway.rawValue
            self = .closed(code, reason: "Stream end encountered", wasClean: false)
        } else if let report {
            let code = report.failure?.closeCode ?? report.sent?.code ?? .abnormal
            self = .closed(Int(code.rawValue), reason: report.sent?.reason, wasClean: false)
        } else {
            self = .closed(0, reason: nil, wasClean: true)
        }
    }

    /// Whether the error is a failure, as opposed to a close by either side.
    private static func isFailure(_ error: SocketError) -> Bool {
        switch error.reason {
        case .webSocket(.failed), .webSocket(.closed): false
        default: true
        }
    }

    /// Converts an error, using SocketRocket's own codes where it has them.
    private static func error(_ error: SocketError) -> NSError {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: error.detail]
        switch error.reason {
        case .webSocket(.handshakeTimeout), .connectTimeout:
            return NSError(domain: NSURLErrorDomain, code: NSURLErrorTimedOut, userInfo: userInfo)
        case .tls:
            return NSError(domain: NSURLErrorDomain, code: NSURLErrorClientCertificateRejected, userInfo: userInfo)
        case .webSocket(.refused(let refusal)): userInfo[SRHTTPResponseErrorKey] = refusal.status
        default: break
        }
        return NSError(domain: error.domain, code: error.code, userInfo: userInfo)
    }
}
