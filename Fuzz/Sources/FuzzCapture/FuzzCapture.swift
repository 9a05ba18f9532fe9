import FuzzSupport
import SocketCore
import SocketExport
import SocketRecords
import SocketWorkshop

/// A capture file from anywhere: whatever is in it, it is read up to where it makes sense, in the same way however it is
/// cut into pieces, and what is kept of it has bounds.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let way = input.byte()
    let step = 1 + Int(input.byte())
    let bytes = header(way) + input.bytes(count, mask: 0xFF)
    let whole = entries(bytes, step: bytes.count)
    require(whole == entries(bytes, step: step), "in pieces of \(step): \(whole)")
    open(bytes, step)
    export(bytes)
    return 0
}

/// What a file may begin with, so that what follows is reached.
private func header(_ way: UInt8) -> [UInt8] {
    switch way % 4 {
    case 1:
        var writer = PcapngWriter()
        writer.section(application: "fuzz", comment: "")
        let links = LinkType.allCases
        _ = writer.interface(name: "#1 x", description: "client x", link: links[Int(way / 4) % links.count].rawValue)
        return writer.bytes
    case 2: return [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + [UInt8](repeating: 0, count: 12) + [way / 4, 0, 0, 0]
    default: return []
    }
}

/// How many things the file says, and how it ended.
private func entries(_ bytes: [UInt8], step: Int) -> String {
    var reader = CaptureReader()
    var count = 0
    for start in stride(from: 0, to: bytes.count, by: max(1, step)) {
        reader.append(bytes[start...].prefix(step))
        do throws(CaptureError) {
            while let entry = try reader.next() {
                count += 1
                if case .packet(let packet) = entry {
                    require(packet.bytes.count <= bytes.count && packet.length >= packet.bytes.count, "\(packet)")
                }
            }
        } catch {
            return "\(count) and \(error.sentence)"
        }
        require(reader.offset + UInt64(reader.pending) <= UInt64(bytes.count), "\(reader.offset), \(reader.pending)")
    }
    return "\(count), \(reader.skipped) skipped, \(reader.pending) left"
}

private func open(_ bytes: [UInt8], _ step: Int) {
    var capture = OpenedCapture(keeping: 4_096, all: 16_384)
    for start in stride(from: 0, to: bytes.count, by: 64 * step) {
        guard (try? capture.absorb(bytes[start...].prefix(64 * step))) != nil else { break }
    }
    capture.finish()
    let snapshot = capture.snapshot(SnapshotRequest(), named: "fuzz")
    for socket in snapshot?.sockets ?? [] {
        let kept = capture.traffic(of: socket.id).items.reduce(0) { $0 + $1.keptBytes }
        require(kept <= bytes.count, "\(kept) bytes of \(bytes.count)")
    }
}

/// What was recorded is equal to itself, and what was taken for a control is no difference.
private func replay(_ conversation: ExportedConversation) {
    let plan = ReplayPlan(conversation)
    var matcher = AnswerMatcher(AnswerPattern(plan.answer))
    for part in conversation.parts where part.side == .server { matcher.absorb(part.bytes) }
    matcher.finish()
    require(matcher.difference == nil || plan.ending == .reset, "differs from itself")
    let requests = RecordedExchange.all(of: conversation).map(\.request)
    guard let first = requests.first else { return }
    var control = ControlPattern(first)
    for other in requests {
        control.absorb(other)
        var matcher = AnswerMatcher(control.pattern)
        matcher.absorb(other)
        matcher.finish()
        require(matcher.difference == nil, "a control differs")
    }
}

private func export(_ bytes: [UInt8]) {
    var index = ExportIndex()
    guard (try? index.absorb(bytes)) != nil else { return }
    let rows = index.rows()
    for row in rows.prefix(4) {
        var reader = ExportedConversation.Reader(PacketSelection(flows: [row.flow], span: .zero ... .seconds(1 << 40)))
        guard (try? reader.absorb(bytes)) != nil else { return }
        let conversation = reader.finish(row)
        _ = try? ScriptExport.text(conversation, row)
        _ = try? CurlExport.text(conversation.bytes(of: .client), row)
        replay(conversation)
    }
    let all = PacketSelection(flows: Set(rows.flatMap(\.flows)), span: .zero ... .seconds(1 << 40))
    var export = CaptureExport(all, isWhole: true)
    guard (try? export.absorb(bytes)) != nil else { return }
    // What was written is read again.
    var again = ExportIndex()
    require((try? again.absorb(export.take())) != nil, "cannot be read again")
    let found = again.rows().count
    require(found == rows.count, "\(found) of \(rows.count) rows")
}
