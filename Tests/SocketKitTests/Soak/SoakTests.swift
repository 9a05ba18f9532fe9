import Glibc
import SocketKit
import SocketTestSupport
import Testing

extension Soak {
    @Suite(.timeLimit(.minutes(10))) struct SoakTests {
        @Test func sessionsThatEndInAnyWayLeaveNeitherDescriptorsNorMemoryBehind() async throws {
            let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                try measureSessions()
            }
            print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self), terminator: "")
        }

        @Test func enginesThatAreReleasedLeaveNoDescriptorsBehind() async throws {
            await #expect(processExitsWith: .success) {
                // The first engine makes Dispatch open descriptors of its own, which stay.
                for _ in 0..<3 { try use(SocketEngine()) }
                let before = restingDescriptors()
                for _ in 0..<count(1_000) { try use(SocketEngine()) }
                // Of the first ones some may have been open still.
                #expect(eventually { openDescriptors() <= before }, "\(openDescriptors()), \(before) before")
            }
        }
    }

    /// Sessions on one engine: those of the first tenth warm it up, the rest must change nothing.
    fileprivate static func measureSessions() throws {
        let start = ContinuousClock.now
        let load = try SoakLoad()
        try runTenth(of: load)
        let descriptors = (load.openDescriptors, restingDescriptors())
        let memory = residentKiB()
        for _ in 1..<10 { try runTenth(of: load) }
        #expect(load.openDescriptors == 1)
        #expect(eventually { (load.openDescriptors, openDescriptors()) == descriptors })
        let growth = residentKiB() - memory
        if isFull { #expect(growth <= 4 << 10, "grew by \(growth) KiB from \(memory)") }
        print(
            """
            soak: \(load.done.cycles) connections, \(load.done.refused) refused, \(load.done.timedOut) timed out, \
            \(load.done.bindFailures) not bound in \(seconds(since: start)); \(openDescriptors()) descriptors, \
            \(descriptors.1) before; \(memory + growth) KiB resident, \(memory) after the first tenth
            """)
        fflush(nil)
    }

    private static func runTenth(of load: SoakLoad) throws {
        try load.cycle(count(2_000))
        try load.beRefused(count(100))
        try load.timeOut(count(100))
        try load.failToBind(count(100))
    }

    /// One connection each way on an engine, which nobody holds after that.
    fileprivate static func use(_ engine: SocketEngine) throws {
        let server = QuietServer()
        let listener = SocketListener(engine: engine, delegate: server)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let socket = AsyncSocket(engine: engine)
        try socket.connect(toHost: "127.0.0.1", port: try #require(listener.localAddress?.port))
        try #require(eventually { socket.isConnected && server.count == 1 })
    }
}
