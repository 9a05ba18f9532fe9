import SocketCore
import SocketRecords

/// A program that can be inspected and wants to do harm to whoever looks: well-formed frames with values that no program
/// has.
struct HostileProgram {
    private let choose: (Int) -> Int
    private var decoder = InspectionFrameDecoder()
    private var mirror = InspectionMirror()
    private var event: UInt64 = 0

    /// `choose` gives a number from 0 to one less than its argument.
    init(_ choose: @escaping (Int) -> Int) { self.choose = choose }

    /// What the viewer wants to be told.
    mutating func watches(_ watch: InspectionWatch) { mirror.watches(watch) }

    /// The next update as the viewer has it; nil once it was refused, or before there is one.
    mutating func update(now: MonotonicTime) -> EngineSnapshot? {
        decoder.append(frames)
        do throws(WireError) {
            while let frame = try decoder.next() { try mirror.absorb(frame, now: now) }
        } catch {
            return nil
        }
        return mirror.snapshot(engine: HostileValues.texts[choose(HostileValues.texts.count)])
    }

    private var frames: [UInt8] {
        mutating get {
            var bytes = InspectionFrame.frame(.sockets, list(1 + choose(8)) { UInt64($0 + 1) })
            bytes += InspectionFrame.frame(.events, events)
            for id in 1...3 { bytes += InspectionFrame.frame(.traffic, traffic(of: UInt64(id))) }
            return bytes + InspectionFrame.frame(.tick, HostileWriter.message(InspectionTick.self, choose))
        }
    }

    private func list(_ count: Int, id: (Int) -> UInt64) -> [UInt8] {
        var writer = WireWriter()
        for index in 0..<count {
            writer.append(1, encoded: HostileWriter.message(SocketSnapshot.self, first: id(index), choose))
        }
        return writer.bytes
    }

    private var events: [UInt8] {
        mutating get {
            var writer = WireWriter()
            for _ in 0..<choose(20) {
                event &+= choose(8) == 0 ? UInt64(1) << UInt64(choose(64)) : 1
                writer.append(1, encoded: HostileWriter.message(SocketEvent.self, first: event, choose))
            }
            return writer.bytes
        }
    }

    private func traffic(of id: UInt64) -> [UInt8] {
        var writer = WireWriter()
        writer.append(1, id)
        writer.append(2, UInt64(choose(256)) << UInt64(choose(56)))
        writer.append(3, UInt64(choose(3)))
        var sequence: UInt64 = 0
        for _ in 0..<choose(16) {
            sequence += 1 + UInt64(choose(3))
            writer.append(4, encoded: HostileWriter.message(TrafficItem.self, first: sequence, choose))
        }
        return writer.bytes
    }
}
