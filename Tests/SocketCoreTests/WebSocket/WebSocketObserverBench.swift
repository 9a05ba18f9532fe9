import SocketCore

/// One leg of a relay, and what its observer makes of what passes there.
final class WebSocketObserverBench {
    static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private var observer: WebSocketObserver
    private let role: WebSocketRole
    private(set) var items: [ObservedItem] = []
    /// Bytes that are no frames, of both directions.
    private(set) var plain = 0
    var now = MonotonicTime.zero
    /// The most bytes that pass at a time.
    var cut = Int.max
    /// What may be inflated.
    var allowance = Int.max

    init(_ role: WebSocketRole = .server, keepsTraffic: Bool = true, inflatedLimit: Int = 1 << 20) {
        self.role = role
        observer = WebSocketObserver(
            role: role, keepsTraffic: keepsTraffic, inflatedLimit: inflatedLimit, now: .zero
        ) { $0 == Self.key ? Self.accept : "" }
    }

    var isBlind: Bool { observer.isBlind }
    var isOpen: Bool { observer.isOpen }
    var sentHead: Int? { observer.sentHead }
    var picture: WebSocketPicture? { observer.picture() }
    /// What was seen of the client's, or of the server's, messages and control frames.
    func seen(_ speaker: WebSocketRole) -> [String] {
        items.filter { $0.isSent == (speaker == role) }.map { item in
            let text = String(decoding: item.bytes, as: UTF8.self)
            return "\(item.traffic.kind) \(text)" + (item.traffic.problem.map { " (\($0))" } ?? "")
        }
    }

    func client(_ bytes: [UInt8]) { see(bytes, ofClient: true) }
    func server(_ bytes: [UInt8]) { see(bytes, ofClient: false) }
    func client(_ text: String) { client(Array(text.utf8)) }
    func server(_ text: String) { server(Array(text.utf8)) }

    /// Frames as the client masks them.
    func client(_ frames: WireFrame...) { client(frames.flatMap { $0.bytes(key: [0x37, 0xFA, 0x21, 0x3D]) }) }
    func server(_ frames: WireFrame...) { server(frames.flatMap { $0.bytes() }) }

    func end(by origin: WebSocketCloseReport.Origin) {
        observer.end(by: origin, now: now)
        items += observer.takeItems()
    }

    private func see(_ bytes: [UInt8], ofClient: Bool) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(cut))
            rest = rest.dropFirst(part.count)
            plain += part.withUnsafeBytes {
                observer.see($0, isSent: ofClient == (role == .client), now: now, allowance: &allowance)
            }
            items += observer.takeItems()
        }
    }

    static func request(_ fields: String = "", method: String = "GET") -> String {
        "\(method) /chat?room=1 HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\n\(fields)\r\n"
    }

    static func answer(_ fields: String = "", accept: String = accept) -> String {
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(accept)\r\n\(fields)\r\n"
    }

    static let deflate = "Sec-WebSocket-Extensions: permessage-deflate\r\n"

    /// Both heads.
    func open(_ offered: String = "", _ agreed: String = "") {
        client(Self.request(offered))
        server(Self.answer(agreed))
    }
}
