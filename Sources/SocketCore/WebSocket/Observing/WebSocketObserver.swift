/// Observes a connection between other parties from its first bytes to detect a WebSocket: the first request is an
/// upgrade, and the server accepts it. It gives up at the first byte that can't belong to such a request.
///
/// It receives copies of the traffic and changes nothing. `role` is the local side's role towards its peer.
package struct WebSocketObserver: ~Copyable {
    private enum Stage {
        /// The client's request is awaited.
        case request(HTTPHeadParser)
        /// The server's response is awaited.
        case answer(HTTPHeadParser)
        /// Frames are being exchanged.
        case open
        /// The traffic is not a readable WebSocket. What is known of it is kept.
        case over
    }

    /// The longest head accepted.
    static let headLimit = 16_384
    /// The most bytes a client can send after its request and before the response.
    private static let earlyLimit = 65_536

    package let role: WebSocketRole
    private let keepsTraffic: Bool
    private let inflatedLimit: Int
    private let accept: @Sendable (String) -> String
    private var stage: Stage
    let began: MonotonicTime
    private var early: [UInt8] = []

    // The state shown in the snapshot.
    var shown = WebSocketStage.opening
    private(set) var request: WebSocketRequest?
    private(set) var response: HTTPHead?
    var problem: String?
    private(set) var openedIn: Duration?
    private(set) var deflate: PerMessageDeflateParameters?
    /// The frames received from the peer and those sent to it.
    private(set) var received: FrameObserver
    private(set) var sent: FrameObserver
    /// Whether frames were exchanged.
    private(set) var hasFrames = false
    private(set) var pings: PingLedger
    private(set) var closeOrigin: WebSocketCloseReport.Origin?
    private(set) var closeBegan: MonotonicTime?
    var report: WebSocketCloseReport?
    private var items: [ObservedItem] = []
    /// The bytes of budget left for inflating the current input.
    private var allowance = 0
    /// The bytes sent before the first frame, or `nil` if no frame can have been sent yet.
    package private(set) var sentHead: Int?
    private var sentSoFar = 0

    /// Creates an observer. `accept` computes the server's answer to a client's key (RFC 6455, 4.2.2). `keepsTraffic`
    /// is whether messages are collected in addition to the state. A compressed message that inflates to more than
    /// `inflatedLimit` is skipped, because inflating delays the traffic. Much less of a message is kept.
    package init(
        role: WebSocketRole, keepsTraffic: Bool, inflatedLimit: Int = 1 << 20, now: MonotonicTime,
        accept: @escaping @Sendable (_ key: String) -> String
    ) {
        self.role = role
        self.keepsTraffic = keepsTraffic
        self.inflatedLimit = inflatedLimit
        self.accept = accept
        began = now
        stage = .request(HTTPHeadParser(limit: Self.headLimit, takesLoneLineFeeds: true))
        received = Self.frames(of: role, isSent: false, nil, keepsTraffic, inflatedLimit)
        sent = Self.frames(of: role, isSent: true, nil, keepsTraffic, inflatedLimit)
        pings = PingLedger(settings: WebSocketSettings(), now: now)
    }

    /// Whether the connection is known not to be a WebSocket.
    package var isBlind: Bool { if case .over = stage { request == nil } else { false } }

    /// The seam after the last byte sent, which finds where another message can be inserted, or `nil` if none can.
    package var sentSeam: FrameSeam? { isOpen ? sent.seam : nil }

    /// Whether frames are being exchanged.
    package var isOpen: Bool { if case .open = stage { true } else { false } }

    /// The bytes received of the awaited head.
    var headBytes: Int {
        switch stage {
        case .request(let parser), .answer(let parser): parser.count
        case .open, .over: 0
        }
    }

    /// Returns the items observed since the last call.
    package mutating func takeItems() -> [ObservedItem] {
        guard !items.isEmpty else { return [] }
        let taken = items
        items = []
        return taken
    }

    // MARK: Traffic

    /// Observes bytes that were received or sent. Returns how many of the first bytes are not frames. Compressed
    /// messages are inflated within `allowance`, which is reduced by the bytes in and out.
    package mutating func see(
        _ bytes: UnsafeRawBufferPointer, isSent: Bool, now: MonotonicTime, allowance: inout Int
    ) -> Int {
        self.allowance = allowance
        defer { allowance = self.allowance }
        return see(bytes, isSent: isSent, now: now)
    }

    private mutating func see(_ bytes: UnsafeRawBufferPointer, isSent: Bool, now: MonotonicTime) -> Int {
        let isOfClient = isSent == (role == .client)
        let plain: Int
        switch stage {
        case .over: return bytes.count
        case .open:
            observe(bytes, isSent: isSent, now: now)
            return 0
        case .request(let parser): plain = isOfClient ? readRequest(parser, bytes) : giveUp(bytes)
        case .answer(let parser): plain = isOfClient ? hold(bytes) : readAnswer(parser, bytes, now)
        }
        if isSent { sentSoFar += plain }
        guard isOpen else { return plain }
        sentHead = sentSoFar
        let ahead = early
        early = []
        ahead.withUnsafeBytes { observe($0, isSent: role == .client, now: now) }
        observe(UnsafeRawBufferPointer(rebasing: bytes[plain...]), isSent: isSent, now: now)
        return plain
    }

    private mutating func giveUp(_ bytes: UnsafeRawBufferPointer) -> Int {
        stage = .over
        return bytes.count
    }

    private mutating func readRequest(_ parser: HTTPHeadParser, _ bytes: UnsafeRawBufferPointer) -> Int {
        // The head of another method or protocol is not collected.
        let method: [UInt8] = [0x47, 0x45, 0x54, 0x20]
        for (index, byte) in bytes.prefix(max(0, 4 - parser.count)).enumerated()
        where byte != method[parser.count + index] {
            return giveUp(bytes)
        }
        var parser = parser
        stage = .over
        switch parser.receive(bytes.bytes) {
        case .wait: stage = .request(parser)
        case .failed: break
        case .head(let head, let taken):
            guard let asked = WebSocketRequest(head), asked.isUpgrade else { return bytes.count }
            request = asked
            stage = .answer(HTTPHeadParser(limit: Self.headLimit, takesLoneLineFeeds: true))
            _ = hold(UnsafeRawBufferPointer(rebasing: bytes[taken...]))
        }
        return bytes.count
    }

    /// Keeps what the client sends before the response.
    private mutating func hold(_ bytes: UnsafeRawBufferPointer) -> Int {
        early += bytes
        if early.count > Self.earlyLimit {
            lose("the client sent more than \(Self.earlyLimit) bytes before it was answered", .opening)
        }
        return bytes.count
    }

    private mutating func readAnswer(
        _ parser: HTTPHeadParser, _ bytes: UnsafeRawBufferPointer, _ now: MonotonicTime
    ) -> Int {
        var (parser, offset) = (parser, 0)
        stage = .over
        while true {
            switch parser.receive(UnsafeRawBufferPointer(rebasing: bytes[offset...]).bytes) {
            case .wait:
                stage = .answer(parser)
                return bytes.count
            case .failed(let fault):
                lose("the response cannot be read: \(fault.problem)", .refused)
                return bytes.count
            case .head(let head, let taken):
                offset += taken
                guard let status = HTTPStatusLine(head.startLine)?.status, status < 200, status != 101 else {
                    judge(head, now)
                    return isOpen ? offset : bytes.count
                }
                // An interim response: another one follows (RFC 9110, 15.2).
                parser = HTTPHeadParser(limit: Self.headLimit, takesLoneLineFeeds: true)
            }
        }
    }

    /// Stops observing. Keeps what is known and the reason.
    private mutating func lose(_ problem: String, _ shown: WebSocketStage) {
        stage = .over
        early = []
        self.problem = problem
        self.shown = shown
    }

    // MARK: Response

    private mutating func judge(_ head: HTTPHead, _ now: MonotonicTime) {
        response = head
        guard let line = HTTPStatusLine(head.startLine), line.status == 101, head.lists("websocket", in: "upgrade")
        else { return lose("the server answered \(head.startLine)", .refused) }
        shown = .open
        openedIn = now - began
        problem =
            head.upgradeProblem(line, accept: accept(request?.key ?? ""), key: "the key") ?? subprotocolProblem(head)
        do throws(ExtensionFault) {
            let reply = head.list(of: "sec-websocket-extensions").joined(separator: ", ")
            deflate = reply.isEmpty ? nil : try PerMessageDeflateParameters().accept(reply: reply)
        } catch {
            return lose("its frames cannot be read: \(error.detail)", .open)
        }
        stage = .open
        hasFrames = true
        received = Self.frames(of: role, isSent: false, deflate, keepsTraffic, inflatedLimit)
        sent = Self.frames(of: role, isSent: true, deflate, keepsTraffic, inflatedLimit)
    }

    private static func frames(
        of role: WebSocketRole, isSent: Bool, _ deflate: PerMessageDeflateParameters?, _ keepsTraffic: Bool,
        _ inflatedLimit: Int
    ) -> FrameObserver {
        FrameObserver(
            speaker: isSent == (role == .client) ? .client : .server, isSent: isSent, deflate: deflate,
            keepsMessages: keepsTraffic, inflatedLimit: inflatedLimit)
    }

    private func subprotocolProblem(_ head: HTTPHead) -> String? {
        guard let name = head.values(of: "sec-websocket-protocol").first,
            request?.subprotocols.contains(name) != true
        else { return nil }
        return "the subprotocol \(HTTPText.shown(name.utf8)) was not offered"
    }

    // MARK: Frames

    private mutating func observe(_ bytes: UnsafeRawBufferPointer, isSent: Bool, now: MonotonicTime) {
        guard !bytes.isEmpty else { return }
        let first = items.count
        if isSent {
            sent.receive(bytes, now: now, allowance: &allowance, into: &items)
        } else {
            received.receive(bytes, now: now, allowance: &allowance, into: &items)
        }
        note(from: first, now: now)
    }

    /// Evaluates control frames: a pong's round-trip time, and which side started closing.
    private mutating func note(from first: Int, now: MonotonicTime) {
        for index in items.indices.dropFirst(first) {
            let item = items[index]
            switch item.traffic.kind {
            case .ping where item.isSent: pings.sent(item.bytes, now: now)
            case .pong where !item.isSent:
                items[index].traffic.roundTrip = pings.answered(item.bytes, now: now)
            case .close where closeOrigin == nil && (item.isSent ? sent.close : received.close) != nil:
                closeOrigin = item.isSent ? .local : .peer
                closeBegan = now
                shown = .closing
            case .ping, .pong, .close, .text, .binary, .undecoded: break
            }
        }
    }

    // MARK: End

    /// Handles the end of the transport, closed by the local side or the peer.
    package mutating func end(by origin: WebSocketCloseReport.Origin, now: MonotonicTime) {
        guard report == nil, !isBlind, request != nil else { return }
        switch stage {
        case .request: break
        case .answer: lose("the connection ended before it was answered", .refused)
        case .over: if shown == .open || shown == .opening { shown = .closed }
        case .open:
            received.end(into: &items)
            sent.end(into: &items)
            shown = .closed
            report = ending(by: origin, now: now)
        }
    }
}
