import SocketKit

/// What the suite wants of a client: it takes all cases, sends back every message, by the awaiting surface, and has the
/// reports written.
struct EchoClient {
    let base: String
    private let engine = SocketEngine()

    init(base: String) {
        self.base = base
    }

    func run() async throws {
        let count = try await text("/getCaseCount")
        for number in 1...max(1, Int(count) ?? 0) { await take(number) }
        for try await _ in try await open("/updateReports?agent=SocketKit").messages {}
    }

    private func open(_ path: String) async throws -> WebSocket {
        var configuration = WebSocketConfiguration()
        var tls = TLSSettings.client()
        // The suite made its certificate itself.
        tls.trust = .anything
        configuration.tls = tls
        return try await WebSocket.connect(to: base + path, on: engine, configuration: configuration)
    }

    private func text(_ path: String) async throws -> String {
        var text = ""
        for try await message in try await open(path).messages { text = message.text }
        return text
    }

    private func take(_ number: Int) async {
        do {
            let webSocket = try await open("/runCase?case=\(number)&agent=SocketKit")
            for try await message in webSocket.messages { try await webSocket.send(message) }
        } catch {
            // Many cases break the protocol: that is what they are for. The suite sees how we took it.
        }
    }
}
