import InspectorCore
import SocketCore
import Testing

@Suite("A program that wants to harm its viewer")
struct HostileProgramTests {
    @Test("every screen and report of several such programs can be made", arguments: 0..<16)
    func looking(_ seed: Int) {
        var generator = SeededGenerator(UInt64(seed) * 977 + 3)
        var viewing = HostileViewing(programs: 1 + seed % 4) { Int.random(in: 0..<$0, using: &generator) }
        for _ in 0..<8 {
            let fault = viewing.step()
            #expect(fault == nil, "\(fault ?? "")")
        }
    }
}
