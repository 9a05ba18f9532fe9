import FuzzSupport
import SocketCore
import SocketRecords
import SocketWorkshop

/// Bytes of a program or a viewer that wants to do harm: whatever they are, they are read or refused, what was read is
/// written and read again as the same, and a mirror that takes it stays in order. The handshakes of proxies get them too.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let way = input.byte()
    let rest = input.bytes(count, mask: 0xFF)
    switch way & 3 {
    case 0: readStream(rest, piece: 1 + Int(way >> 2))
    case 1, 2:
        // Straight to the content of a frame: random lengths seldom are right.
        let kinds = InspectionFrame.Kind.allCases
        readStream(InspectionFrame.frame(kinds[Int(way >> 2) % kinds.count], rest), piece: .max)
    default: negotiate(rest, piece: 1 + Int(way >> 3))
    }
    return 0
}

private func readStream(_ bytes: [UInt8], piece: Int) {
    var decoder = InspectionFrameDecoder()
    var mirror = InspectionMirror()
    var rest = bytes[...]
    do throws(WireError) {
        while !rest.isEmpty {
            decoder.append(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            while let frame = try decoder.next() {
                again(frame)
                if case .traffic(let change) = frame {
                    var watch = InspectionWatch()
                    watch.traffic = change.socket
                    mirror.watches(watch)
                }
                try mirror.absorb(frame)
            }
        }
    } catch {
        return
    }
    guard let picture = mirror.snapshot(engine: "") else { return }
    var merger = ProgramMerger()
    let whole = merger.merge([(picture, 0), (picture, 1)], SnapshotRequest(eventsFrom: 0))
    let ids = whole.sockets.map(\.id)
    require(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }, "sessions out of order: \(ids)")
    let numbers = whole.events.map(\.sequence)
    require(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "events out of order: \(numbers)")
}

/// Read, written and read again it is the same.
private func again(_ frame: InspectionFrame) {
    if case .unknown = frame { return }
    var decoder = InspectionFrameDecoder()
    decoder.append(frame.bytes)
    let second = try? decoder.next()
    require(second == .some(frame), "\(frame) was read again as \(String(describing: second))")
}

private func negotiate(_ bytes: [UInt8], piece: Int) {
    for kind in ProxyKind.allCases {
        var handshake = ProxyHandshake(kind)
        var rest = bytes[...]
        var isOver = false
        while !rest.isEmpty, !isOver {
            var step = handshake.receive(Array(rest.prefix(piece)))
            rest = rest.dropFirst(piece)
            while case .reply = step { step = handshake.receive([]) }
            switch step {
            case .wait, .reply: break
            case .refuse: isOver = true
            case .forward(let request, let early):
                isOver = true
                forwarded(request, early)
            case .open(let endpoint, _):
                isOver = true
                guard case .host(let host, let port) = endpoint else { fatalError("\(endpoint) is no TCP") }
                require(!host.isEmpty && port != 0, "\(endpoint) is nowhere")
            }
        }
    }
}

/// The head that a server gets can be read, in origin form and without fields for proxies, and the end of the request is
/// the same however it is cut.
private func forwarded(_ request: HTTPForwardedRequest, _ early: [UInt8]) {
    guard case .host(let host, let port) = request.endpoint else { fatalError("\(request.endpoint) is no TCP") }
    require(!host.isEmpty && port != 0, "\(request.endpoint) is nowhere")
    var parser = HTTPHeadParser(limit: 1 << 20)
    guard case .head(let head, let taken) = parser.receive(request.head.span.bytes), taken == request.head.count else {
        fatalError("the head cannot be read: \(request.head)")
    }
    require(!head.fields.contains { $0.name.lowercased().hasPrefix("proxy-") }, "a field for proxies went on")
    require(head.list(of: "connection").last == "close" && head.values(of: "host").count == 1, "\(head)")
    var (whole, dripped) = (request.body, request.body)
    let count = whole.absorb(early)
    require(early.reduce(0) { $0 + dripped.absorb([$1]) } == count && whole == dripped, "the body ends elsewhere")
}
