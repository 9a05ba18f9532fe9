import Glibc
import SocketKit

/// The end that the Autobahn suite tests, as a program of its own, so that it can be one that is optimized: among its cases
/// are some that pass 128 MiB of messages.
@main
struct Main {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, arguments.count) {
        case ("client", 2): try await EchoClient(base: CommandLine.arguments[2]).run()
        case ("server", 1): try serve(nil)
        case ("server", 3):
            let identity = TLSSettings.Identity(
                certificateFile: CommandLine.arguments[2], keyFile: CommandLine.arguments[3])
            try serve(.server(identity))
        default:
            print("usage: autobahn-peer client URL | server [CERTIFICATE KEY]")
            exit(2)
        }
    }

    /// Until it is killed.
    private static func serve(_ tls: TLSSettings?) throws {
        let server = try EchoServer(engine: SocketEngine(), tls: tls)
        print("ready \(server.port)")
        fflush(nil)
        withExtendedLifetime(server) { while true { pause() } }
    }
}
