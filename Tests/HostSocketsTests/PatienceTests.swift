import Dispatch
import Glibc
import HostSockets
import SocketTestSupport
import Testing

@Suite("Calls that another process holds up")
struct PatienceTests {
    private func run(_ patience: Patience, _ body: @escaping @Sendable () -> Int) -> Result<Int, HostSystem.Failure> {
        Result { () throws(HostSystem.Failure) in try patience.run(body) }
    }

    @Test("one that takes too long is left to itself; while too many are, no other is made")
    func stuck() {
        let patience = Patience(limit: .milliseconds(20), mostStuck: 2)
        let gate = DispatchSemaphore(value: 0)
        for _ in 0..<2 {
            #expect(
                run(patience) {
                    gate.wait()
                    return 1
                } == .failure(HostSystem.Failure(ETIMEDOUT)))
        }
        #expect(run(patience) { 2 } == .failure(HostSystem.Failure(EBUSY)))
        for _ in 0..<2 { gate.signal() }
        #expect(eventually { run(patience) { 3 } == .success(3) })
    }

    @Test("what a call throws is thrown")
    func failure() {
        let patience = Patience(limit: .seconds(100))
        #expect(throws: HostSystem.Failure(ENOENT)) {
            try patience.run { () throws(HostSystem.Failure) -> Int in throw HostSystem.Failure(ENOENT) }
        }
    }
}
