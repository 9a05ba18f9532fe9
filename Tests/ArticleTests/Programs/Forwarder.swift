import SocketKit

struct Forwarder {
    /// forwarder LOCAL-HOST:PORT TARGET-HOST:PORT
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else { return print("forwarder LOCAL-HOST:PORT TARGET-HOST:PORT") }
        let listener = SocketListener(engine: SocketEngine(), configuration: configuration)
        let connections = listener.connections
        try listener.listen(on: Endpoint.parse(arguments[1]))
        try await serve(connections, target: Endpoint.parse(arguments[2]))
    }

    /// The settings of both connections of a pair.
    static var configuration: SocketConfiguration {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = true
        configuration.idleTimeout = .seconds(600)
        return configuration
    }

    static func serve(_ connections: SocketConnections, target: Endpoint) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for try await client in connections {
                group.addTask {
                    do {
                        try await forward(client, to: target)
                    } catch {
                        client.disconnect(.reset)
                        print(error)
                    }
                }
            }
        }
    }

    static func forward(_ client: AsyncSocket, to target: Endpoint) async throws {
        try await AsyncSocket.withConnection(
            to: target, on: client.engine, timeout: .seconds(10), configuration: configuration
        ) { server in
            do {
                try await withThrowingDiscardingTaskGroup { group in
                    group.addTask { try await copy(from: client, to: server) }
                    group.addTask { try await copy(from: server, to: client) }
                }
            } catch {
                server.disconnect(.reset)
                throw error
            }
        }
        try await client.disconnectAndWait(.afterWriting)
    }

    /// Forwards one direction up to its FIN, and the FIN.
    static func copy(from source: AsyncSocket, to sink: AsyncSocket) async throws {
        for try await chunk in source.chunks() { try await sink.send(chunk) }
        sink.halfClose()
    }
}
