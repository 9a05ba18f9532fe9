import Glibc
import SocketKit

struct TLSClient {
    /// tls-client HOST:PORT [CA-FILE]
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            let server = try Endpoint.parse(arguments.first ?? "localhost:4433")
            print(try await head(of: server, authority: arguments.dropFirst().first))
        } catch {
            print(error)
            exit(1)
        }
    }

    /// Sends an HTTP request and returns the head of the response.
    static func head(of server: Endpoint, authority: String? = nil) async throws -> String {
        var tls = TLSSettings.client()  // the certificate must be valid for the host in `server`
        if let authority { tls.trust = .file(authority) }  // instead of the system's authorities
        return try await AsyncSocket.withConnection(
            to: server, on: SocketEngine(), timeout: .seconds(5), tls: tls
        ) { socket in
            let request = "GET / HTTP/1.1\r\nHost: \(server.host ?? "localhost")\r\nConnection: close\r\n\r\n"
            try await socket.send(Array(request.utf8), timeout: .seconds(5))
            let end = Array("\r\n\r\n".utf8)
            let head = try await socket.read(ReadRequest(.delimiter(end, limit: 16_384), timeout: .seconds(5)))
            return String(decoding: head.dropLast(end.count), as: UTF8.self)
        }
    }
}
