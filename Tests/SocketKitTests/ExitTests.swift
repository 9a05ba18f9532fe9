import Dispatch
import Glibc
import SocketKit
import Testing

/// What a process does that exits while engines live.
@Suite("Exit", .timeLimit(.minutes(10)))
struct ExitTests {
    @Test func anEngineOnAConcurrentQueueTraps() async {
        await #expect(processExitsWith: .failure) {
            var configuration = EngineConfiguration()
            configuration.queue = .global(qos: .utility)
            _ = SocketEngine(configuration)
        }
    }

    /// Handlers run in reverse, so this one runs behind those that the first use of OpenSSL registers.
    @Test func threadsMayUseOpenSSLUntilTheEnd() async {
        await #expect(processExitsWith: .success) {
            atexit { if Digests.webSocketAccept(for: sampleKey) != sampleAccept { _exit(7) } }
            guard Digests.webSocketAccept(for: sampleKey) == sampleAccept else { _exit(8) }
            exit(0)
        }
    }
}

/// RFC 6455, 1.3.
private let sampleKey = "dGhlIHNhbXBsZSBub25jZQ=="
private let sampleAccept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
