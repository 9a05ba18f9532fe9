import Dispatch
import InspectorCore
import SocketKit
import SocketTestSupport
import SocketWorkshop
import Testing

@testable import InspectorShell
@testable import SockTUI

@Suite("Faults that come late", .timeLimit(.minutes(10)))
struct LateFaultTests {
    @Test("what is added to a relayed connection counts from its beginning")
    func offsets() throws {
        let world = try RelayFaultTests.World()
        let client = try world.connect()
        client.socket.write(Array("0123456789".utf8))
        #expect(eventually { world.served.received.count == 10 })
        _ = try world.perform("break upstream on bytes 5")
        _ = try world.perform("break upstream on bytes 15")
        client.socket.write(Array("abcdefghij".utf8))
        #expect(eventually { world.served.received.count == 15 && world.fault?.hold?.breakpoint == 2 })
        _ = try world.perform("break clear")
        #expect(eventually { world.served.received.count == 20 })
        world.accepted()?.write(Array("four".utf8))
        #expect(eventually { client.told.received.count == 4 })
        _ = try world.perform("fault add downstream after 6 limit 1")
        world.accepted()?.write(Array("more".utf8))
        #expect(eventually { client.told.calls.contains(.closedReadStream) })
        #expect(client.told.received == Array("fourmor".utf8))
    }

    @Test("a reset comes though its receiver takes nothing")
    func reset() throws {
        let world = try RelayFaultTests.World(["downstream after 300ms reset"])
        let client = try world.connect()
        client.socket.isReadingPaused = true
        try #require(eventually { world.accepted() != nil })
        for _ in 0..<64 { world.accepted()?.write([UInt8](repeating: 1, count: 1 << 20)) }
        #expect(eventually { world.served.lastError?.reason == .system(errno: 104) })
    }

    /// What is asked of a connection, instead of one.
    private final class Carrier: FaultCarrier {
        let apart = Lock<[Bool]>([])
        let written = Lock<[UInt8]>([])
        func write(_ bytes: [UInt8], to leg: RelayMachine.Leg, isOurs: Bool) { written.withLock { $0 += bytes } }
        func sendApart(_ leg: RelayMachine.Leg, _ isApart: Bool) { apart.withLock { $0.append(isApart) } }
        func holdBack(_ leg: RelayMachine.Leg, _ holds: Bool) {}
        func ended(_ leg: RelayMachine.Leg, isCut: Bool) {}
        func lost(_ leg: RelayMachine.Leg, _ loss: RelayMachine.Loss) {}
        func resetBoth() {}
        func connectOn() {}
        func recordFault(_ leg: RelayMachine.Leg, _ kind: SocketEvent.Kind, _ first: Int, _ second: Int) {}
        func noteFaults() {}
    }

    @Test("writes go out together again when the last rule that slices is gone")
    func apart() throws {
        let carrier = Carrier()
        let faults = RelayFaults(seed: 1, connection: 1, began: .zero, delayBuffer: 1_000)
        let faulted = FaultedPair(faults, of: carrier, on: DispatchQueue(label: "faults"))
        faulted.add(
            [NumberedFault(1, try .parse("slice 2")), NumberedFault(2, try .parse("upstream slice 1"))], after: nil)
        faulted.receive([1, 2, 3], from: .client)
        #expect(carrier.apart.withLock { $0 } == [true])
        faulted.remove(rule: 1)
        #expect(carrier.apart.withLock { $0 } == [true])
        faulted.remove(rule: 2)
        #expect(carrier.apart.withLock { $0 } == [true, false])
        faulted.add([NumberedFault(3, try .parse("slice 2"))], after: nil)
        faulted.receive([1, 2, 3], from: .client)
        #expect(carrier.apart.withLock { $0 } == [true, false, true])
    }

    @Test("an answer has whole lines, and says how many have no room")
    func answers() {
        #expect(answered(["a", "b"]) == "a\nb" && answered([]) == "")
        let match = String(repeating: "x", count: 40)
        let text = answered((0..<400).map { "#\($0) held by breakpoint 1 (match \(match))" })
        let lines = text.split(separator: "\n")
        #expect(text.utf8.count <= 16 << 10 && lines.last == "and \(400 - lines.count + 1) more")
        #expect(lines.dropLast().allSatisfy { $0.hasSuffix("x)") })
    }

    @Test("a piece that waits when the last rule that slices goes is not sent apart")
    func lateApart() throws {
        let carrier = Carrier()
        let faults = RelayFaults(seed: 1, connection: 1, began: .zero, delayBuffer: 1_000)
        let queue = DispatchQueue(label: "faults")
        let faulted = FaultedPair(faults, of: carrier, on: queue)
        faulted.add(
            [NumberedFault(1, try .parse("slice 2")), NumberedFault(2, try .parse("upstream latency 1s"))], after: nil
        )
        // The queue's own turn, so that the latency does not end between the two.
        queue.sync {
            faulted.receive([1, 2, 3], from: .client)
            faulted.remove(rule: 1)
        }
        #expect(eventually { carrier.written.withLock { $0 } == [1, 2, 3] })
        #expect(carrier.apart.withLock { $0 } == [])
    }
}
