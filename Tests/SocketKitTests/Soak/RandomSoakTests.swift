import Glibc
import SocketTestSupport
import Testing

extension Soak {
    /// Random operations on two engines, for half an hour in a long run. `SOCKTUI_SOAK_SEED` chooses the seed.
    @Suite(.timeLimit(.minutes(45))) struct RandomSoakTests {
        @Test func whateverIsAskedEachOperationEndsOnceAndEachByteComesInItsPlace() async throws {
            let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                try measureRandomOperations()
            }
            print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self), terminator: "")
        }
    }

    private static func measureRandomOperations() throws {
        let start = ContinuousClock.now
        let seed = getenv("SOCKTUI_SOAK_SEED").flatMap { UInt64(String(cString: $0)) } ?? 1
        let soak = try RandomSoak(seed: seed)
        let end = start + (isFull ? .seconds(1_800) : .seconds(1))
        var (rounds, descriptors, memory) = (0, 0, 0)
        repeat {
            try soak.run(steps: isFull ? 20_000 : 1_500)
            #expect(soak.settle(), "round \(rounds): somebody has not heard of the end")
            #expect(soak.complaints.isEmpty, "seed \(seed), round \(rounds): \(soak.complaints)")
            rounds += 1
            if rounds == 10 { (descriptors, memory) = (restingDescriptors(), residentKiB()) }
        } while ContinuousClock.now < end && soak.complaints.isEmpty
        if rounds > 20 {
            #expect(eventually { openDescriptors() <= descriptors }, "\(openDescriptors()), \(descriptors) before")
            #expect(residentKiB() - memory <= 8 << 10, "grew to \(residentKiB()) KiB from \(memory)")
        }
        print(
            """
            random soak: seed \(seed), \(rounds) rounds, \(soak.steps) steps, \(soak.callbacks) callbacks in \
            \(seconds(since: start)); \(openDescriptors()) descriptors, \(residentKiB()) KiB resident, \(memory) after ten \
            rounds
            """)
        fflush(nil)
    }
}
