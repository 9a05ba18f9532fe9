import FuzzSupport
import SocketCore
import SocketRecords

/// What an engine may do, in any order: the recording of it is read again to its end with every packet understood, and
/// cut anywhere it is read up to there.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let snap = input.byte() % 4 == 0 ? Int(input.byte() % 8) : .max
    let cut = Int(input.byte()) * 16
    var run = Run(snap: snap)
    while !input.isEmpty { run.step(&input) }
    var writer = run.writer
    let file = writer.take()
    run.check(file)
    var part = OpenedCapture(keeping: 4_096, all: 16_384)
    do throws(CaptureError) { try part.absorb(file.prefix(cut)) } catch { require(false, "cut at \(cut): \(error)") }
    return 0
}

private struct Run {
    var writer: RecordingWriter
    private var time: Int64 = 0

    init(snap: Int) {
        writer = RecordingWriter(application: "fuzz", zero: 1_700_000_000_000_000_000, snap: snap)
    }

    mutating func step(_ input: inout FuzzInput) {
        let kind = input.byte()
        let number = 1 + UInt64(input.byte() % 6)
        time += Int64(input.byte())
        add(number, content(kind, number, &input))
    }

    private mutating func content(_ kind: UInt8, _ number: UInt64, _ input: inout FuzzInput) -> RecordedEntry.Content {
        let isSent = kind & 16 != 0
        switch kind % 8 {
        case 0: return .session(session(number, input.byte()), isNew: kind & 32 == 0)
        case 1: return .ended(isLocal: isSent, isPlain: kind & 32 != 0)
        case 2: return .closed(isReset: kind & 32 != 0, isLocal: isSent)
        case 3:
            var loss = RecordedLoss()
            loss.add(Int(input.byte()), isSent: isSent)
            return .dropped(loss)
        case 4: return .datagram(input.bytes(Int(input.byte()), mask: 0xFF), isSent: isSent, nil, length: 300)
        case 5: return .snapshot(snapshot(number), [:])
        case 6 where kind & 64 != 0: return .secrets(input.bytes(Int(input.byte()), mask: 0xFF))
        default:
            let bytes = input.bytes(Int(input.byte()), mask: 0xFF)
            let length = bytes.count + (kind & 128 == 0 ? 0 : Int(input.byte()) << 10)
            return .bytes(bytes[...], length: length, isSent: isSent, isPlain: kind & 32 != 0)
        }
    }

    private mutating func add(_ number: UInt64, _ content: RecordedEntry.Content) {
        writer.add(RecordedEntry(SocketID(number), at: MonotonicTime(nanoseconds: time), content))
    }

    /// Its ends, among few, so that some are each other's.
    private func session(_ number: UInt64, _ way: UInt8) -> RecordedSession {
        let ports: [UInt16] = [80, 40_000, 40_001, 0]
        let ends = [way & 3, way >> 2 & 3].map { SocketAddress.v4(host: "127.0.0.1", port: ports[Int($0)]) }
        let role: SocketRole = way & 16 == 0 ? (way & 32 == 0 ? .client : .accepted) : .datagram
        return RecordedSession(
            id: SocketID(number), local: way & 64 == 0 ? ends[0] : .unix(path: "/run/x"),
            peer: way & 128 == 0 ? ends[1] : nil, isClient: role == .client, role: role, target: "x")
    }

    private func snapshot(_ number: UInt64) -> EngineSnapshot {
        var snapshot = EngineSnapshot(engine: "fuzz", time: MonotonicTime(nanoseconds: time), wallNanoseconds: 0)
        let facts = SocketSnapshot.Facts(
            id: SocketID(number), role: .client, phase: .connected, target: "x", opened: .zero)
        snapshot.sockets = [SocketSnapshot(facts)]
        return snapshot
    }

    func check(_ file: [UInt8]) {
        var reader = CaptureReader()
        reader.append(file)
        var parser = PacketParser()
        do throws(CaptureError) {
            while let entry = try reader.next() {
                guard case .packet(let packet) = entry else { continue }
                require(packet.bytes.count <= PcapngWriter.snapLength, "\(packet.bytes.count) bytes")
                require(parser.parse(packet) != nil, "a packet of ours that is not understood")
            }
        } catch {
            require(false, error.sentence)
        }
        require(reader.pending == 0 && reader.skipped == 0, "\(reader.pending) left, \(reader.skipped) skipped")
    }
}
