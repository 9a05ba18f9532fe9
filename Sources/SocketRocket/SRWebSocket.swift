internal import Dispatch
internal import SocketKit

/// A client's WebSocket (RFC 6455) with the API of SocketRocket, on a SocketKit engine that all of them share.
///
/// It can be used from any thread. It opens once, and retains itself from `open()` until its last callback. Pings are
/// answered before the delegate is notified. While the delegate's queue is busy, at most 128 KiB of messages, or one
/// message, are held in memory. The rest stay in the kernel, so that the server slows down.
/// SocketRocket: `SRWebSocket`.
public final class SRWebSocket: Sendable {
    /// The parts of its state that its `WebSocket` does not know.
    private enum Phase { case new, begun, ended }

    private struct State: ~Copyable {
        var phase = Phase.new
        var delegate = WeakCallersObject<any SRWebSocketDelegate>()
        var operations: OperationQueue?
        var cookies: [HTTPCookie]?
        var received: [String: String]?
        /// The WebSocket itself, from `open()` until its last callback.
        var retained: SRWebSocket?
    }

    private static let engine = SocketEngine()

    let webSocket: WebSocket
    let request: URLRequest
    private let protocols: [String]
    let policy: CallersObject<SRSecurityPolicy>
    private let state = Lock(State())
    private let bridge = SRWebSocketBridge()

    /// The queue on which callbacks wait for the delegate's operation queue.
    private let waiting = DispatchQueue(label: "SocketRocket.operations")

    // MARK: Initializers

    /// Creates a WebSocket for the URL of `request` (`ws`, `wss`, `http`, `https`). Uses the request's header fields,
    /// except those that belong to the handshake. Its timeout covers everything until the WebSocket is open.
    public init(urlRequest request: URLRequest, protocols: [String]?, securityPolicy: SRSecurityPolicy) {
        self.request = request
        self.protocols = protocols ?? []
        policy = CallersObject(securityPolicy)
        webSocket = WebSocket(engine: Self.engine, delegate: bridge, delegateQueue: .main)
        bridge.serve(self)
    }

    /// Creates a WebSocket for a request, with the default policy and no subprotocols.
    public convenience init(urlRequest request: URLRequest) {
        self.init(urlRequest: request, protocols: nil, securityPolicy: .default())
    }

    /// Creates a WebSocket for a request, with a policy and no subprotocols.
    public convenience init(urlRequest request: URLRequest, securityPolicy: SRSecurityPolicy) {
        self.init(urlRequest: request, protocols: nil, securityPolicy: securityPolicy)
    }

    /// Creates a WebSocket for a request, with the default policy. It offers these subprotocols, in order of
    /// preference.
    public convenience init(urlRequest request: URLRequest, protocols: [String]?) {
        self.init(urlRequest: request, protocols: protocols, securityPolicy: .default())
    }

    /// Creates a WebSocket for a request that offers these subprotocols, with or without validation of the server's
    /// certificate.
    @available(*, deprecated, message: "Without validation, anyone can pose as the server.")
    public convenience init(urlRequest request: URLRequest, protocols: [String]?, allowsUntrustedSSLCertificates: Bool)
    {
        let policy = SRSecurityPolicy(validatesChain: !allowsUntrustedSSLCertificates)
        self.init(urlRequest: request, protocols: protocols, securityPolicy: policy)
    }

    /// Creates a WebSocket for a URL, with the default policy.
    public convenience init(url: URL) { self.init(urlRequest: URLRequest(url: url)) }

    /// Creates a WebSocket for a URL that offers these subprotocols, in order of preference.
    public convenience init(url: URL, protocols: [String]?) {
        self.init(urlRequest: URLRequest(url: url), protocols: protocols)
    }

    /// Creates a WebSocket for a URL, with a policy.
    public convenience init(url: URL, securityPolicy: SRSecurityPolicy) {
        self.init(urlRequest: URLRequest(url: url), securityPolicy: securityPolicy)
    }

    /// Creates a WebSocket for a URL that offers these subprotocols, with or without validation of the server's
    /// certificate.
    @available(*, deprecated, message: "Without validation, anyone can pose as the server.")
    public convenience init(url: URL, protocols: [String]?, allowsUntrustedSSLCertificates: Bool) {
        let policy = SRSecurityPolicy(validatesChain: !allowsUntrustedSSLCertificates)
        self.init(urlRequest: URLRequest(url: url), protocols: protocols, securityPolicy: policy)
    }

    // MARK: The delegate

    /// The delegate, held weakly. A new delegate receives every callback that hasn't started yet.
    public var delegate: (any SRWebSocketDelegate)? {
        get { state.withLock { $0.delegate }.object }
        set {
            let reference = WeakCallersObject(newValue)
            state.withLock { $0.delegate = reference }
        }
    }

    /// The queue that callbacks run on, unless there is an operation queue. Setting `nil` selects the main queue.
    public var delegateDispatchQueue: DispatchQueue? {
        get { delegateOperationQueue == nil ? webSocket.delegateQueue : nil }
        set {
            state.withLock { $0.operations = nil }
            webSocket.delegateQueue = newValue ?? .main
        }
    }

    /// The operation queue that callbacks run in, one at a time. Setting `nil` selects the main queue.
    public var delegateOperationQueue: OperationQueue? {
        get { state.withLock { $0.operations } }
        set {
            state.withLock { $0.operations = newValue }
            webSocket.delegateQueue = newValue == nil ? .main : waiting
        }
    }

    // MARK: State

    /// The state of the WebSocket. It changes before the delegate is notified.
    public var readyState: SRReadyState {
        switch state.withLock({ $0.phase }) {
        case .new: .CONNECTING
        case .ended: .CLOSED
        case .begun:
            switch webSocket.readyState {
            case .connecting: .CONNECTING
            case .open: .OPEN
            case .closing: .CLOSING
            case .closed: .CLOSED
            }
        }
    }

    /// The URL that the WebSocket was created with.
    public var url: URL? { request.url }

    /// The header fields of the server's response, or `nil` before one arrives. Fields with the same name are joined by
    /// commas. SocketRocket returns a `CFHTTPMessage`, which only Apple's systems have.
    public var receivedHTTPHeaders: [String: String]? { state.withLock { $0.received } }

    /// The cookies for the request. A change after `open()` has no effect.
    public var requestCookies: [HTTPCookie]? {
        get { state.withLock { $0.cookies } }
        set { state.withLock { $0.cookies = newValue } }
    }

    /// The subprotocol that the server chose, or `nil` if it chose none or the WebSocket is not open yet.
    public var `protocol`: String? { webSocket.subprotocol }

    /// Whether the server's certificate is not validated.
    public var allowsUntrustedSSLCertificates: Bool { !policy.object.validatesChain }

    // MARK: Opening and closing

    /// Starts opening the WebSocket. `webSocketDidOpen` or `didFailWithError` reports the result. Has no effect the
    /// second time, or after `close()`.
    public func open() {
        let mayOpen = state.withLock { state in
            guard state.phase == .new, state.retained == nil else { return false }
            state.retained = self
            return true
        }
        guard mayOpen else { return }
        do throws(SocketError) {
            let plan = SRWebSocketPlan(request, protocols, requestCookies, policy.object)
            webSocket.configuration = plan.configuration
            try webSocket.connect(to: plan.url)
            state.withLock { if $0.phase == .new { $0.phase = .begun } }
        } catch {
            webSocket.delegateQueue?.async { [self] in
                bridge.fail(
                    NSError(
                        domain: NSURLErrorDomain, code: NSURLErrorBadURL,
                        userInfo: [NSLocalizedDescriptionKey: error.detail]))
            }
        }
    }

    /// Closes the WebSocket with code 1000. `didCloseWithCode` follows, unless the WebSocket was never opened.
    public func close() { close(withCode: SRStatusCode.codeNormal.rawValue, reason: nil) }

    /// Closes the WebSocket after the queued messages have been sent. A reason over 123 bytes of UTF-8 is truncated. A
    /// code that must not be sent (RFC 6455, 7.4) produces a Close without a code. Has no effect if the WebSocket is
    /// closing or closed.
    public func close(withCode code: Int, reason: String?) {
        let wasNew = state.withLock { state in
            guard state.phase == .new, state.retained == nil else { return false }
            state.phase = .ended
            return true
        }
        guard !wasNew else { return }
        let code = UInt16(exactly: code).map(WebSocketCloseCode.init(rawValue:))
        guard let code, code.isSendable else { return _ = webSocket.close(nil) }
        var reason = Substring(reason ?? "")
        while reason.utf8.count > 123 { reason.removeLast() }
        webSocket.close(code, reason: String(reason))
    }

    /// Has no effect, because the engine has its own thread and needs no run loop.
    public func schedule(in runLoop: RunLoop, forMode mode: String) {}

    /// Has no effect, because the engine has its own thread and needs no run loop.
    public func unschedule(from runLoop: RunLoop, forMode mode: String) {}

    // MARK: For the bridge

    /// Stores the header fields of the server's response.
    func received(_ head: HTTPHead) {
        let fields = Dictionary(head.fields.map { ($0.name, $0.value) }) { $0 + ", " + $1 }
        state.withLock { $0.received = fields }
    }

    /// Ends the WebSocket after its last callback.
    func end() {
        let former = state.withLock { state in
            defer { (state.phase, state.retained) = (.ended, nil) }
            return state.retained
        }
        withExtendedLifetime(former) {}
    }
}

extension SRWebSocket: Hashable {
    /// Whether both are the same object.
    public static func == (left: SRWebSocket, right: SRWebSocket) -> Bool { left === right }
    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
