import SocketKit

/// Runs `body` beside a server that a program serves on a port of the kernel's choice.
func beside(
    _ configuration: SocketConfiguration = SocketConfiguration(), on engine: SocketEngine = SocketEngine(),
    tls: TLSSettings? = nil, serving serve: @escaping @Sendable (SocketConnections) async throws -> Void,
    _ body: (Endpoint) async throws -> Void
) async throws {
    let listener = SocketListener(engine: engine, configuration: configuration)
    let connections = listener.connections
    try listener.listen(on: .tcp(host: "localhost", port: 0), tls: tls)
    let serving = Task { try await serve(connections) }
    defer { serving.cancel() }
    try await body(.tcp(host: "localhost", port: listener.localAddress?.port ?? 0))
}

/// The settings of a socket that goes on writing after its peer's FIN.
var halfOpen: SocketConfiguration {
    var configuration = SocketConfiguration()
    configuration.allowsHalfOpen = true
    return configuration
}

/// Reads a line, without its LF.
func line(from socket: AsyncSocket) async throws -> String {
    String(decoding: try await socket.read(ReadRequest(.delimiter([10], limit: 1_024))).dropLast(), as: UTF8.self)
}
