import SocketKit
import SocketRocket
import SocketTestSupport
import Testing

@Suite("Members of SRWebSocket about TLS", .enabled(if: Certificates.problem == nil), .timeLimit(.minutes(10)))
struct TLSMemberTests {
    /// Decides, and keeps what it was asked.
    @available(*, deprecated, message: "as SRSecurityPolicy.init(certificateChainValidationEnabled:) is")
    final class Policy: SRSecurityPolicy {
        let verdict: Bool
        let asked = Lock<[(SRServerTrust, String)]>([])

        init(_ verdict: Bool, validates: Bool) {
            self.verdict = verdict
            super.init(certificateChainValidationEnabled: validates)
        }

        override func evaluateServerTrust(_ serverTrust: SRServerTrust, forDomain domain: String) -> Bool {
            asked.withLock { $0.append((serverTrust, domain)) }
            return verdict
        }
    }

    private func server() throws -> Server { try Server(tls: .server(Certificates.identity("server"))) }

    @Test(
        """
        initWithURLRequest:securityPolicy: initWithURLRequest:protocols:securityPolicy: evaluateServerTrust:forDomain:
        """)
    @available(*, deprecated)
    func policies() throws {
        for verdict in [true, false] {
            let (server, recorder) = (try server(), Recorder())
            let policy = Policy(verdict, validates: false)
            let request = URLRequest(url: try server.url("wss"))
            let webSocket =
                verdict
                ? SRWebSocket(urlRequest: request, securityPolicy: policy)
                : SRWebSocket(urlRequest: request, protocols: nil, securityPolicy: policy)
            open(webSocket, recorder)
            let refused = Recorder.Call.failed(domain: NSURLErrorDomain, code: NSURLErrorClientCertificateRejected)
            #expect(eventually { recorder.calls == [verdict ? .opened : refused] })
            let (trust, domain) = try #require(policy.asked.withLock { $0.first })
            #expect(domain == "127.0.0.1" && trust.problem != nil)
            #expect(trust.certificates.first?.names.contains("DNS:localhost") == true)
            #expect(trust.certificates.first?.sha256.count == 32)
        }
    }

    @Test("initWithURL:securityPolicy: defaultPolicy")
    func standard() throws {
        let (server, recorder) = (try server(), Recorder())
        let webSocket = SRWebSocket(url: try server.url("wss"), securityPolicy: .default())
        #expect(!webSocket.allowsUntrustedSSLCertificates)
        open(webSocket, recorder)
        #expect(
            eventually {
                recorder.calls == [.failed(domain: NSURLErrorDomain, code: NSURLErrorClientCertificateRejected)]
            })
    }

    @Test("a policy that validates is not asked about a chain that does not pass")
    @available(*, deprecated)
    func validated() throws {
        let (server, recorder) = (try server(), Recorder())
        let policy = Policy(true, validates: true)
        open(SRWebSocket(url: try server.url("wss"), securityPolicy: policy), recorder)
        #expect(eventually { recorder.end != nil })
        #expect(policy.asked.withLock { $0.isEmpty } && recorder.errors.count == 1)
    }

    @Test(
        """
        initWithURLRequest:protocols:allowsUntrustedSSLCertificates: initWithURL:protocols:allowsUntrustedSSLCertificates: \
        initWithCertificateChainValidationEnabled: allowsUntrustedSSLCertificates
        """)
    @available(*, deprecated)
    func untrusted() throws {
        let server = try server()
        let url = try server.url("https")
        let policy = SRSecurityPolicy(certificateChainValidationEnabled: false)
        let webSockets = [
            SRWebSocket(urlRequest: URLRequest(url: url), protocols: nil, allowsUntrustedSSLCertificates: true),
            SRWebSocket(url: url, protocols: nil, allowsUntrustedSSLCertificates: true),
            SRWebSocket(url: url, securityPolicy: policy),
        ]
        for webSocket in webSockets {
            #expect(webSocket.allowsUntrustedSSLCertificates)
            let recorder = Recorder()
            open(webSocket, recorder)
            #expect(eventually { recorder.calls == [.opened] })
        }
    }
}
