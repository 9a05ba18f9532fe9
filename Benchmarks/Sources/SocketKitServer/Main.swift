import Dispatch
import Glibc
import SocketKit

/// Serves one of the yardstick's protocols (see `Yardstick/refserver.c`) by SocketKit's public API, until it is killed:
/// `SocketKitServer -m echo|heard|sink|source|lines|websocket|websocket-stream [-w inline|queue|async|engine|borrowed] [-p PORT | -u PATH] [--watched]
/// [-c CERTIFICATE -k KEY] [-e ENGINES] [-t THREADS] [--moving]`
@main
struct Main {
    static func main() throws {
        let options: Options
        do {
            options = try Options(CommandLine.arguments.dropFirst())
        } catch {
            let sentence = "SocketKitServer: \(error.sentence)\n"
            write(STDERR_FILENO, sentence, sentence.utf8.count)
            exit(2)
        }
        raiseDescriptorLimit()
        let server = Server(options)
        let port = try server.start()
        let others = try (1..<max(1, options.engines)).map { _ in
            var sharing = options
            sharing.port = port
            let other = Server(sharing)
            _ = try other.start()
            return other
        }
        print("ready \(port)")
        fflush(nil)
        if options.isWatched { watch(server.engine) }
        for _ in 0..<options.posters { Poster(server.engine).start() }
        withExtendedLifetime((server, others)) { while true { pause() } }
    }

    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Takes a snapshot ten times a second, as a screen does.
    private static func watch(_ engine: SocketEngine) {
        DispatchQueue(label: "watching").async {
            while true {
                usleep(100_000)
                _ = engine.snapshot()
            }
        }
    }
}
