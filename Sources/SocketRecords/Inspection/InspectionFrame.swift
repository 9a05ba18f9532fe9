import SocketCore

/// One message of the inspection wire: four bytes of length in network order, which count what follows them, one byte
/// for the kind, and the content.
package enum InspectionFrame: Equatable, Sendable {
    /// The sender's identity. The first frame in either direction.
    case hello(InspectionHello)
    /// Why the connection is about to end, as a sentence.
    case refusal(String)
    /// The current state of sessions that changed or are watched, each in full.
    case sockets([SocketSnapshot])
    /// The end of an update.
    case tick(InspectionTick)
    /// The events since the previous ones.
    case events([SocketEvent])
    /// Changes in the watched traffic.
    case traffic(InspectionTraffic)
    /// Why a request was not carried out, as a sentence.
    case notice(String)
    /// Invalidates all sessions sent so far. All of them follow again.
    case reset
    /// The other ends of connections, as found by the viewer that records this. Those not included are unknown.
    case peers([InspectionPeer])
    /// Traffic, for a viewer that records it.
    case passed([InspectionRecord])
    /// The calls of the program that is run, as traced by the viewer that records this.
    case calls(CallUpdate)
    /// The result of a request.
    case answer(InspectionAnswer)
    /// What a viewer requests in addition to the list.
    case watch(InspectionWatch)
    /// A command for a session.
    case command(SocketCommand)
    /// A request to the program itself, in the program's own words. An `answer` follows.
    case request(String)
    /// A kind that this version doesn't know, to be skipped.
    case unknown(UInt8)

    /// The largest value of a length, in bytes.
    package static let limit = 1 << 20
    static let lengthSize = 4

    /// The kinds by their numbers on the wire.
    package enum Kind: UInt8, CaseIterable, Sendable {
        case hello = 1
        case refusal = 2
        case sockets = 3
        case tick = 4
        case events = 5
        case traffic = 6
        case notice = 7
        case reset = 8
        case peers = 9
        case passed = 10
        case answer = 11
        case calls = 12
        case watch = 16
        case command = 17
        case request = 18
    }

    private var content: (Kind, [UInt8])? {
        switch self {
        case .hello(let hello): (.hello, hello.encoded)
        case .refusal(let sentence): (.refusal, InspectionText(sentence).encoded)
        case .sockets(let sockets): (.sockets, InspectionList(values: sockets).encoded)
        case .tick(let tick): (.tick, tick.encoded)
        case .events(let events): (.events, InspectionList(values: events).encoded)
        case .traffic(let traffic): (.traffic, traffic.encoded)
        case .notice(let sentence): (.notice, InspectionText(sentence).encoded)
        case .reset: (.reset, [])
        case .peers(let peers): (.peers, InspectionList(values: peers).encoded)
        case .passed(let records): (.passed, InspectionList(values: records).encoded)
        case .answer(let answer): (.answer, answer.encoded)
        case .calls(let calls): (.calls, calls.encoded)
        case .request(let line): (.request, InspectionText(line).encoded)
        case .watch(let watch): (.watch, watch.encoded)
        case .command(let command): (.command, InspectionCommand(command).encoded)
        case .unknown: nil
        }
    }

    /// The whole frame, or empty for `unknown`.
    package var bytes: [UInt8] {
        guard let (kind, content) = content else { return [] }
        return Self.frame(kind, content)
    }

    /// Returns a frame of content that is already encoded.
    package static func frame(_ kind: Kind, _ content: [UInt8]) -> [UInt8] { bytes(kind.rawValue, content) }

    static func bytes(_ kind: UInt8, _ content: [UInt8]) -> [UInt8] {
        var writer = WireWriter()
        writer.frame(kind) { $0.append(content) }
        return writer.bytes
    }

    /// Reads what follows a frame's length.
    static func read(_ body: ArraySlice<UInt8>, shift: Int64 = 0) throws(WireError) -> InspectionFrame {
        guard let first = body.first else { throw .malformed("a frame is empty") }
        guard let kind = Kind(rawValue: first) else { return .unknown(first) }
        let content = body.dropFirst()
        switch kind {
        case .hello: return .hello(try WireReader.message(content))
        case .refusal: return .refusal(try (WireReader.message(content) as InspectionText).text)
        case .sockets:
            return .sockets(try (WireReader.message(content, shift: shift) as InspectionList<SocketSnapshot>).values)
        case .tick: return .tick(try WireReader.message(content, shift: shift))
        case .events:
            return .events(try (WireReader.message(content, shift: shift) as InspectionList<SocketEvent>).values)
        case .traffic: return .traffic(try WireReader.message(content, shift: shift))
        case .notice: return .notice(try (WireReader.message(content) as InspectionText).text)
        case .reset: return .reset
        case .peers: return .peers(try (WireReader.message(content) as InspectionList<InspectionPeer>).values)
        case .passed: return .passed(try (WireReader.message(content) as InspectionList<InspectionRecord>).values)
        case .answer: return .answer(try WireReader.message(content))
        case .calls: return .calls(try WireReader.message(content, shift: shift))
        case .request: return .request(try (WireReader.message(content) as InspectionText).text)
        case .watch: return .watch(try WireReader.message(content))
        case .command: return .command(try (WireReader.message(content) as InspectionCommand).command())
        }
    }
}

/// Splits a stream of bytes into frames. After an error nothing more can be read.
package struct InspectionFrameDecoder: Sendable {
    private var gathered: [UInt8] = []
    private var head = 0
    private let shift: Int64

    /// Creates a decoder that adds `shift` nanoseconds to each instant, to convert from another clock to the local one.
    package init(shift: Int64 = 0) { self.shift = shift }

    /// Appends received bytes.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        if head > 0, head == gathered.count || head > 1 << 16 {
            gathered.removeFirst(head)
            head = 0
        }
        gathered.append(contentsOf: bytes)
    }

    /// The number of bytes received but not yet decoded.
    package var pending: Int { gathered.count - head }

    /// Returns the next whole frame, or `nil` if more bytes are needed. A frame with words that this version doesn't
    /// know is `unknown`.
    package mutating func next() throws(WireError) -> InspectionFrame? {
        guard let body = try nextBody() else { return nil }
        do throws(WireError) {
            return try InspectionFrame.read(body, shift: shift)
        } catch {
            guard error == .unknown else { throw error }
            return .unknown(body.first ?? 0)
        }
    }

    /// Returns what follows the length of the next whole frame, or `nil` if more bytes are needed.
    mutating func nextBody(limit: Int = InspectionFrame.limit) throws(WireError) -> ArraySlice<UInt8>? {
        guard pending >= 4 else { return nil }
        let length = gathered[head..<(head + 4)].reduce(0) { $0 << 8 | Int($1) }
        guard length >= 1, length <= limit else {
            throw .malformed("a frame of \(length) bytes; must be 1 to \(limit)")
        }
        guard pending >= 4 + length else { return nil }
        let body = gathered[(head + 4)..<(head + 4 + length)]
        head += 4 + length
        return body
    }
}
