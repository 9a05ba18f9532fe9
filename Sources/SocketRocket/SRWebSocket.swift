internal import Dispatch
internal import SocketKit

/// A client's WebSocket (RFC 6455) with the API of SocketRocket, on a SocketKit engine that all of them share.
///
/// It may be used from any thread. It opens once, and retains itself from `open()` until its last callback. Pings are
/// answered before the delegate hears of them. While the delegate's queue does not take messages, at most 128 KiB of them or
/// one are gathered; the rest stays with the kernel, so that the server is slowed down. SocketRocket: `SRWebSocket`.
public final class SRWebSocket: Sendable {
    /// How far it is, beside what its WebSocket says.
    private enum Phase { case new, begun, ended }

    private struct State: ~Copyable {
        var phase = Phase.new
        var delegate = WeakCallersObject<any SRWebSocketDelegate>()
        var operations: OperationQueue?
        var cookies: [HTTPCookie]?
        var received: [String: String]?
        /// Itself, until its last callback.
        var retained: SRWebSocket?
    }

    private static let engine = SocketEngine()

    let webSocket: WebSocket
    let request: URLRequest
    private let protocols: [String]
    let policy: CallersObject<SRSecurityPolicy>
    private let state = Lock(State())
    private let bridge = SRWebSocketBridge()

    /// The queue on which operations wait for the delegate's operation queue.
    private let waiting = DispatchQueue(label: "SocketRocket.operations")

    // MARK: Making one

    /// A WebSocket of the URL of `request` (`ws`, `wss`, `http`, `https`), with its header fields, in which the fields of the
    /// handshake itself do not count, and its timeout, which covers everything until it is open.
    public init(urlRequest request: URLRequest, protocols: [String]?, securityPolicy: SRSecurityPolicy) {
        self.request = request
        self.protocols = protocols ?? []
        policy = CallersObject(securityPolicy)
        webSocket = WebSocket(engine: Self.engine, delegate: bridge, delegateQueue: .main)
        bridge.serve(self)
    }

    /// The same with the default policy and without subprotocols.
    public convenience init(urlRequest request: URLRequest) {
        self.init(urlRequest: request, protocols: nil, securityPolicy: .default())
    }

    /// The same without subprotocols.
    public convenience init(urlRequest request: URLRequest, securityPolicy: SRSecurityPolicy) {
        self.init(urlRequest: request, protocols: nil, securityPolicy: securityPolicy)
    }

    /// The same with the default policy.
    public convenience init(urlRequest request: URLRequest, protocols: [String]?) {
        self.init(urlRequest: request, protocols: protocols, securityPolicy: .default())
    }

    /// The same, with or without validation of the server's certificate.
    @available(*, deprecated, message: "Without validation anybody can be the server.")
    public convenience init(urlRequest request: URLRequest, protocols: [String]?, allowsUntrustedSSLCertificates: Bool)
    {
        let policy = SRSecurityPolicy(validatesChain: !allowsUntrustedSSLCertificates)
        self.init(urlRequest: request, protocols: protocols, securityPolicy: policy)
    }

    /// A WebSocket of this URL, with the default policy.
    public convenience init(url: URL) { self.init(urlRequest: URLRequest(url: url)) }

    /// A WebSocket of this URL that offers these subprotocols, the best first.
    public convenience init(url: URL, protocols: [String]?) {
        self.init(urlRequest: URLRequest(url: url), protocols: protocols)
    }

    /// A WebSocket of this URL with a policy.
    public convenience init(url: URL, securityPolicy: SRSecurityPolicy) {
        self.init(urlRequest: URLRequest(url: url), securityPolicy: securityPolicy)
    }

    /// The same, with or without validation of the server's certificate.
    @available(*, deprecated, message: "Without validation anybody can be the server.")
    public convenience init(url: URL, protocols: [String]?, allowsUntrustedSSLCertificates: Bool) {
        let policy = SRSecurityPolicy(validatesChain: !allowsUntrustedSSLCertificates)
        self.init(urlRequest: URLRequest(url: url), protocols: protocols, securityPolicy: policy)
    }

    // MARK: The delegate

    /// Who is told; held weakly. A change counts for callbacks that have not begun.
    public var delegate: (any SRWebSocketDelegate)? {
        get { state.withLock { $0.delegate }.object }
        set {
            let reference = WeakCallersObject(newValue)
            state.withLock { $0.delegate = reference }
        }
    }

    /// Where the delegate is called, unless there is an operation queue; `nil` sets the main queue.
    public var delegateDispatchQueue: DispatchQueue? {
        get { delegateOperationQueue == nil ? webSocket.delegateQueue : nil }
        set {
            state.withLock { $0.operations = nil }
            webSocket.delegateQueue = newValue ?? .main
        }
    }

    /// The operation queue in which the delegate is called, one callback at a time; `nil` sets the main queue.
    public var delegateOperationQueue: OperationQueue? {
        get { state.withLock { $0.operations } }
        set {
            state.withLock { $0.operations = newValue }
            webSocket.delegateQueue = newValue == nil ? .main : waiting
        }
    }

    // MARK: Facts

    /// How far it is. It changes before the delegate is told.
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

    /// The URL that it was made with.
    public var url: URL? { request.url }

    /// The fields of the server's answer, or `nil` before one came. Fields of one name are joined by commas. SocketRocket
    /// gives a `CFHTTPMessage`, which only Apple's systems have.
    public var receivedHTTPHeaders: [String: String]? { state.withLock { $0.received } }

    /// Cookies for the request; a change after `open()` has no effect.
    public var requestCookies: [HTTPCookie]? {
        get { state.withLock { $0.cookies } }
        set { state.withLock { $0.cookies = newValue } }
    }

    /// The subprotocol that the server chose, or `nil` if it chose none or is not open yet.
    public var `protocol`: String? { webSocket.subprotocol }

    /// Whether the server's certificate is not validated.
    public var allowsUntrustedSSLCertificates: Bool { !policy.object.validatesChain }

    // MARK: Opening and closing

    /// Begins to open it; `webSocketDidOpen` or `didFailWithError` tells how it went. Without effect the second time, and
    /// after `close()`.
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

    /// Closes it with code 1000. `didCloseWithCode` follows, unless it was never opened.
    public func close() { close(withCode: SRStatusCode.codeNormal.rawValue, reason: nil) }

    /// Closes it after what is queued has been sent. A reason of more than 123 bytes of UTF-8 is cut; a code that must not be
    /// sent (RFC 6455, 7.4) makes a Close without a code. Without effect when it is closing or closed.
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

    /// Without effect: it has a thread of its own.
    public func schedule(in runLoop: RunLoop, forMode mode: String) {}

    /// Without effect, as above.
    public func unschedule(from runLoop: RunLoop, forMode mode: String) {}

    // MARK: For the bridge

    /// The server has answered.
    func received(_ head: HTTPHead) {
        let fields = Dictionary(head.fields.map { ($0.name, $0.value) }) { $0 + ", " + $1 }
        state.withLock { $0.received = fields }
    }

    /// Nothing follows the callback that runs now.
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
    /// By identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
