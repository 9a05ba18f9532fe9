import SocketKit

/// A resolver that knows the names it is given, and no others.
package final class ScriptedResolver: Resolver {
    private let names: [String: [SocketAddress]]

    package init(_ names: [String: [SocketAddress]]) {
        self.names = names
    }

    package func resolve(
        host: String, port: UInt16, answer: @escaping @Sendable (Result<[SocketAddress], SocketError>) -> Void
    ) {
        if let addresses = names[host] { return answer(.success(addresses)) }
        answer(.failure(SocketError(.resolver(code: -2), operation: "getaddrinfo", detail: "\(host): not scripted")))
    }
}
