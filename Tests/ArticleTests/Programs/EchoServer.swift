import SocketKit

struct EchoServer {
    /// echo-server [HOST:PORT]
    static func main() async throws {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = true  // a client's FIN ends its lines, not our replies
        let listener = SocketListener(engine: SocketEngine(), configuration: configuration)
        let connections = listener.connections  // before `listen`, so that none goes to the delegate
        try listener.listen(on: Endpoint.parse(CommandLine.arguments.dropFirst().first ?? "localhost:7000"))
        try await serve(connections)
    }

    static func serve(_ connections: SocketConnections) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for try await socket in connections {
                group.addTask {
                    // An error ends this connection and no other.
                    do { try await echo(socket) } catch { print(error) }
                }
            }
        }
    }

    static func echo(_ socket: AsyncSocket) async throws {
        for try await line in socket.lines(delimiter: [10], limit: 1_024, timeout: .seconds(60)) {
            try await socket.send(line, timeout: .seconds(10))
        }
        try await socket.disconnectAndWait(.afterWriting)
    }
}
