import SocketKit
import SocketTestSupport
import Testing

@Suite(.enabled(if: Certificates.problem == nil, "no certificates: is openssl there?"), .timeLimit(.minutes(10)))
struct TLSPeersTests {
    private static let gnutls = Peer.isUsable("gnutls-serv", "gnutls-cli")

    @Test(.enabled(if: gnutls, "gnutls is missing"), arguments: ["1.2", "1.3"])
    func gnutlsServes(_ version: String) throws {
        let gnutls = try Peer.server { port in
            [
                "gnutls-serv", "--echo", "--quiet", "--port", "\(port)", "--x509certfile",
                Certificates.path("server.crt"),
                "--x509keyfile", Certificates.path("server.key"), "--priority", "NORMAL:-VERS-ALL:+VERS-TLS\(version)",
            ]
        }
        let end = try TLSEnd.connected(to: gnutls.port)
        #expect(end.socket.tls?.version == "TLSv\(version)" && end.socket.tls?.verification == .passed)
        end.socket.write(Array("echo\n".utf8), tag: 1)
        #expect(try end.line() == "echo\n")
    }

    @Test(.enabled(if: gnutls, "gnutls is missing"), arguments: ["1.2", "1.3"])
    func gnutlsConnects(_ version: String) throws {
        let listener = try TLSEnd.Listener()
        let gnutls = try Peer([
            "gnutls-cli", "--x509cafile", Certificates.path("ca.crt"), "--port", "\(listener.port)", "--priority",
            "NORMAL:-VERS-ALL:+VERS-TLS\(version)", "localhost",
        ])
        let end = try listener.accepted()
        #expect(end.socket.tls?.version == "TLSv\(version)" && end.socket.tls?.serverName == "localhost")
        try gnutls.write("hello\n")
        #expect(try end.line() == "hello\n")
        end.socket.write(Array("welcome\n".utf8), tag: 2)
        #expect(eventually { String(decoding: gnutls.output, as: UTF8.self).contains("welcome") })
        // It ends in order, and so do we.
        gnutls.endInput()
        #expect(eventually { end.recorder.isDisconnected })
        #expect(end.recorder.lastError?.reason == .closedByPeer)
    }

    @Test(.enabled(if: Peer.isUsable("nginx"), "nginx is missing"))
    func nginxServesAPage() throws {
        let folder = try TemporaryFolder()
        let page = String(repeating: "All work and no play makes Jack a dull boy.\n", count: 500)
        folder.write(page, to: "index.html")
        let nginx = try Peer.server(keeping: folder) { port in
            let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            folder.write(
                """
                daemon off; master_process off; pid pid;
                events {}
                http {
                    access_log off;
                    \(places.map { "\($0)_temp_path temp;" }.joined(separator: " "))
                    server {
                        listen 127.0.0.1:\(port) ssl; root .;
                        ssl_certificate \(Certificates.path("server.crt"));
                        ssl_certificate_key \(Certificates.path("server.key"));
                    }
                }
                """, to: "nginx.conf")
            return ["nginx", "-e", "stderr", "-p", folder.path, "-c", "nginx.conf"]
        }
        let end = try TLSEnd.connected(
            to: nginx.port, .testClient().with { $0.applicationProtocols = ["http/1.1"] })
        #expect(end.socket.tls?.applicationProtocol == "http/1.1")
        end.socket.read(ReadRequest(.delimiter([13, 10, 13, 10], limit: 8_192), tag: 1))
        end.socket.read(ReadRequest(.length(page.utf8.count), tag: 2))
        end.socket.write(Array("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8))
        // The page is all there is: nginx ends with close_notify behind it.
        #expect(eventually { end.recorder.isDisconnected })
        #expect(end.recorder.received.suffix(page.utf8.count) == Array(page.utf8)[...])
        #expect(end.recorder.lastError?.reason == .closedByPeer)
    }

    @Test(.enabled(if: Peer.isUsable("redis-server"), "redis-server is missing"))
    func redisAnswers() throws {
        let folder = try TemporaryFolder()
        let redis = try Peer.server(keeping: folder) { port in
            [
                "redis-server", "--port", "0", "--tls-port", "\(port)", "--bind", "127.0.0.1", "--dir", folder.path,
                "--save", "", "--appendonly", "no", "--tls-cert-file", Certificates.path("server.crt"),
                "--tls-key-file",
                Certificates.path("server.key"), "--tls-ca-cert-file", Certificates.path("ca.crt"),
            ]
        }
        let end = try TLSEnd.connected(
            to: redis.port, .testClient().with { $0.identity = Certificates.identity("client") })
        let value = (0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        end.socket.write(Array("*3\r\n$3\r\nSET\r\n$1\r\nv\r\n$\(value.count)\r\n".utf8) + value + [13, 10])
        end.socket.write(Array("GET v\r\n".utf8))
        #expect(try end.line() == "+OK\r\n")
        #expect(try end.line() == "$\(value.count)\r\n")
        end.socket.read(ReadRequest(.length(value.count + 2), timeout: .seconds(30), tag: 3))
        #expect(eventually { end.recorder.received.count == value.count + 2 + 5 + "$\(value.count)\r\n".utf8.count })
        #expect(end.recorder.received.suffix(value.count + 2) == (value + [13, 10])[...])
    }
}
