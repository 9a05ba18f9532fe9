import SocketKit
import SocketRocket
import SocketTestSupport
import Testing

/// A delegate that writes down every call, and on which queue it came.
final class Recorder: SRWebSocketDelegate, Sendable {
    enum Call: Equatable, Sendable {
        case opened
        case message(String)
        case text(String)
        case data(Data)
        case failed(domain: String, code: Int)
        case closed(code: Int, reason: String?, wasClean: Bool)
        case ping(Data?)
        case pong(Data?)
    }

    private let made = Lock<[Call]>([])
    private let failures = Lock<[NSError]>([])
    private let converts: Bool
    private let onCall: @Sendable (SRWebSocket, Call) -> Void

    init(converts: Bool = true, onCall: @escaping @Sendable (SRWebSocket, Call) -> Void = { _, _ in }) {
        self.converts = converts
        self.onCall = onCall
    }

    var calls: [Call] { made.withLock { $0 } }
    var errors: [NSError] { failures.withLock { $0 } }

    /// How it ended: the last call, if it is one that tells of an end.
    var end: Call? {
        switch calls.last {
        case .failed, .closed: calls.last
        default: nil
        }
    }

    private func note(_ webSocket: SRWebSocket, _ call: Call) {
        made.withLock { $0.append(call) }
        onCall(webSocket, call)
    }

    func webSocket(_ webSocket: SRWebSocket, didReceiveMessage message: Any) {
        note(webSocket, .message("\(type(of: message))"))
    }
    func webSocket(_ webSocket: SRWebSocket, didReceiveMessageWith string: String) { note(webSocket, .text(string)) }
    func webSocket(_ webSocket: SRWebSocket, didReceiveMessageWith data: Data) { note(webSocket, .data(data)) }
    func webSocketDidOpen(_ webSocket: SRWebSocket) { note(webSocket, .opened) }
    func webSocket(_ webSocket: SRWebSocket, didFailWithError error: any Error) {
        let error = error as NSError
        failures.withLock { $0.append(error) }
        note(webSocket, .failed(domain: error.domain, code: error.code))
    }
    func webSocket(_ webSocket: SRWebSocket, didCloseWithCode code: Int, reason: String?, wasClean: Bool) {
        note(webSocket, .closed(code: code, reason: reason, wasClean: wasClean))
    }
    func webSocket(_ webSocket: SRWebSocket, didReceivePingWith data: Data?) { note(webSocket, .ping(data)) }
    func webSocket(_ webSocket: SRWebSocket, didReceivePong pongData: Data?) { note(webSocket, .pong(pongData)) }
    func webSocketShouldConvertTextFrameToString(_ webSocket: SRWebSocket) -> Bool { converts }
}

/// A server of SocketKit's, and what it needs for a client of SocketRocket's.
struct Server {
    let side: WebSocketRecorder
    let listener: WebSocketListener

    init(
        _ side: WebSocketRecorder = .echo(), tls: TLSSettings? = nil,
        _ configure: (inout WebSocketConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = WebSocketConfiguration()
        configure(&configuration)
        self.side = side
        listener = WebSocketListener(engine: SocketEngine(), delegate: side, configuration: configuration)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: tls)
    }

    func url(_ scheme: String = "ws", _ path: String = "/") throws -> URL {
        try #require(URL(string: "\(scheme)://127.0.0.1:\(listener.localAddress?.port ?? 0)\(path)"))
    }
}

/// A queue of its own for callbacks: nobody runs the main queue in these tests.
func open(_ webSocket: SRWebSocket, _ recorder: Recorder, on queue: DispatchQueue = DispatchQueue(label: "delegate")) {
    webSocket.delegate = recorder
    webSocket.delegateDispatchQueue = queue
    webSocket.open()
}
