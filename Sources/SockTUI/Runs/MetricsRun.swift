import Dispatch
import HostSockets
import InspectorCore
import InspectorShell
import SocketKit

/// Implements `host --metrics`: looks at the host and serves what it saw to Prometheus, until a signal ends it.
enum MetricsRun {
    /// - Parameter endpoint: where to listen, or `nil` to print the metrics once.
    static func run(_ endpoint: Endpoint?, _ options: HostOptions, _ lints: LintSettings) -> Int32 {
        var watch = MetricsWatch(options, lints, version: CommandTable.version)
        do throws(HostObserver.Problem) {
            guard let endpoint else { return Program.show(try watch.settle().text) }
            let server: MetricsServer
            do throws(SocketError) { server = try MetricsServer(on: endpoint) } catch {
                return Program.complain("--metrics: \(error.detail)", status: .failure)
            }
            announce(server)
            // Nothing is served before there is something to tell.
            server.show(try watch.settle().text)
            let failure = serve(server)
            while failure.wait(timeout: .now() + .nanoseconds(Int(watch.pause.wholeNanoseconds))) == .timedOut {
                if let metrics = try watch.look() { server.show(metrics.text) }
            }
            return 1
        } catch {
            return Program.complain(error.sentence, status: .hidden)
        }
    }

    private static func announce(_ server: MetricsServer) {
        for address in server.addresses {
            StandardStream.error.writeLine("socktui: metrics at http://\(address)/metrics")
        }
        guard server.addresses.contains(where: { $0.ip?.isLoopback != true }) else { return }
        StandardStream.error.writeLine(
            "socktui: --metrics: other hosts can reach this address, without a password or TLS")
    }

    /// Starts to answer. Returns what is signalled when nothing is answered any more, which has then been reported.
    private static func serve(_ server: MetricsServer) -> DispatchSemaphore {
        let failure = DispatchSemaphore(value: 0)
        Task.detached {
            do throws(SocketError) {
                try await server.serve()
            } catch {
                _ = Program.complain("--metrics: \(error.detail)", status: .failure)
            }
            failure.signal()
        }
        return failure
    }
}
