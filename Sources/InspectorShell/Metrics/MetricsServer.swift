import InspectorCore
import SocketKit

/// Serves the metrics of the last look over HTTP. A request causes no look.
package final class MetricsServer: Sendable {
    /// The connections that are answered at a time. The others wait in the kernel's queue.
    private static let mostConnections = 4
    /// The longest head of a request in bytes.
    private static let longestHead = 8_192

    /// The time for a request, and for its answer.
    private let patience: Duration
    private let listener: SocketListener
    private let connections: SocketConnections
    private let metrics = Lock("")

    /// Listens. The kernel holds connections until `serve` runs.
    package init(on endpoint: Endpoint, patience: Duration = .seconds(5)) throws(SocketError) {
        self.patience = patience
        listener = SocketListener(engine: SocketEngine())
        connections = listener.connections
        try listener.listen(on: endpoint)
    }

    /// The addresses it listens on.
    package var addresses: [SocketAddress] { listener.localAddresses }

    /// Replaces what is served.
    package func show(_ text: String) { metrics.withLock { $0 = text } }

    /// Answers connections until the listener ends. Throws why it did.
    package func serve() async throws(SocketError) {
        let ending = await withTaskGroup(of: Void.self, returning: Result<Void, SocketError>.self) { group in
            var iterator = connections.makeAsyncIterator(), busy = 0
            do throws(SocketError) {
                while let socket = try await iterator.next() {
                    if busy == Self.mostConnections { await group.next() } else { busy += 1 }
                    group.addTask { await self.answer(socket) }
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try ending.get()
    }

    /// Answers one request. A client that is slow, or asks for too much, is closed.
    private func answer(_ socket: AsyncSocket) async {
        let end = Array("\r\n\r\n".utf8)
        do throws(SocketError) {
            let head = try await socket.read(
                ReadRequest(.delimiter(end, limit: Self.longestHead), timeout: patience))
            let response = MetricsResponse(to: head, metrics: metrics.withLock { $0 })
            try await socket.send(response.bytes, timeout: patience)
            try await socket.disconnectAndWait(.afterWriting)
        } catch {
            socket.disconnect()
        }
    }
}
