import CocoaAsyncSocket
import Foundation
import SocketKit
import SocketTestSupport
import Testing

@Suite("TLS of a GCDAsyncSocket", .timeLimit(.minutes(10))) struct TLSTests {
    /// Judges certificates.
    private final class Judge: NSObject, GCDAsyncSocketDelegate {
        let verdict: Bool
        let trusts = Lock<[SecTrust]>([])
        let lines = Lock<[String]>([])

        init(verdict: Bool) { self.verdict = verdict }

        func socketDidSecure(_ sock: GCDAsyncSocket) { lines.withLock { $0.append("secured") } }

        func socketDidDisconnect(_ sock: GCDAsyncSocket, withError err: (any Error)?) {
            lines.withLock { $0.append("disconnected \((err as NSError?)?.code ?? 0)") }
        }

        func socket(
            _ sock: GCDAsyncSocket, didReceive trust: SecTrust, completionHandler: @escaping (Bool) -> Void
        ) {
            trusts.withLock { $0.append(trust) }
            completionHandler(verdict)
            completionHandler(!verdict)
        }
    }

    private let pair: StreamPair

    init() throws {
        try #require(Certificates.problem == nil, "\(Certificates.problem ?? "")")
        pair = try StreamPair()
    }

    private func identity(_ name: String = "server") -> SecIdentity {
        SecIdentity(certificateFile: Certificates.path(name + ".pem"))
    }

    private func serverSettings(_ more: [String: NSObject] = [:]) -> [String: NSObject] {
        [
            GCDAsyncSocketSSLIsServer: NSNumber(value: true),
            GCDAsyncSocketSSLCertificates: NSArray(array: [identity()]),
        ].merging(more) { $1 }
    }

    /// Secures both sides by a client that judges itself, and returns who judged.
    private func secure(
        _ client: [String: NSObject] = [:], server: [String: NSObject] = [:], verdict: Bool = true
    ) -> Judge {
        let judge = Judge(verdict: verdict)
        pair.client.delegate = judge
        pair.server.startTLS(serverSettings(server))
        pair.client.startTLS(
            [GCDAsyncSocketManuallyEvaluateTrust: NSNumber(value: true)].merging(client) { $1 })
        return judge
    }

    private func isSecured(_ judge: Judge) -> Bool {
        eventually { judge.lines.withLock { $0.contains("secured") } && pair.serverLog.has("secured") }
    }

    @Test("startTLS:") func starting() throws {
        let judge = secure()
        pair.client.startTLS(nil)
        #expect(isSecured(judge) && pair.client.isSecure && pair.server.isSecure)
        pair.server.readData(toLength: 3, withTimeout: -1, tag: 1)
        pair.client.write("abc")
        #expect(eventually { pair.serverLog.text(1) == "abc" })
        GCDAsyncSocket().startTLS(nil)
    }

    @Test("socketDidSecure:") func didSecure() { #expect(isSecured(secure())) }

    @Test("socket:didReceiveTrust:completionHandler:") func trust() throws {
        let judge = secure()
        #expect(isSecured(judge))
        let trust = try #require(judge.trusts.withLock { $0.first })
        var error: CFError?
        #expect(!SecTrustEvaluateWithError(trust, &error))
        #expect(error?.localizedDescription.isEmpty == false)
        #expect(SecTrustGetCertificateCount(trust) == 1 && SecTrustGetCertificateAtIndex(trust, 1) == nil)
        let certificate = try #require(SecTrustGetCertificateAtIndex(trust, 0))
        #expect(SecCertificateCopySubjectSummary(certificate) as String? == "server")
        let encoded = SecCertificateCopyData(certificate)
        #expect(SecCertificateCreateWithData(nil, encoded).map { SecCertificateCopyData($0) } == encoded)
        #expect(SecCertificateCreateWithData(nil, NSData(data: Data([1, 2]))) == nil)
        #expect((SecTrustCopyCertificateChain(trust) as? [SecCertificate])?.count == 1)
    }

    @Test("GCDAsyncSocketManuallyEvaluateTrust") func manually() {
        let judge = secure(verdict: false)
        #expect(eventually { judge.lines.withLock { $0.contains { $0.hasPrefix("disconnected -9") } } })
        #expect(!pair.client.isSecure)
    }

    @Test("GCDAsyncSocketUseCFStreamForTLS") func stream() {
        #expect(isSecured(secure([GCDAsyncSocketUseCFStreamForTLS: NSNumber(value: true)])))
    }

    @Test("GCDAsyncSocketSSLPeerName") func peerName() {
        pair.server.startTLS(serverSettings([GCDAsyncSocketSSLPeerName: NSString(string: "ignored")]))
        pair.client.startTLS([GCDAsyncSocketSSLPeerName: NSString(string: "localhost")])
        // The tests' authority is not one of the system's.
        #expect(eventually { pair.log.error?.domain == "kCFStreamErrorDomainSSL" })
    }

    @Test("GCDAsyncSocketSSLCertificates", arguments: ["file", "memory", "container"]) func certificates(
        from source: String
    ) throws {
        let path = Certificates.path("server.pem")
        let identity: SecIdentity
        switch source {
        case "file": identity = SecIdentity(certificateFile: path)
        case "memory": identity = SecIdentity(pemCertificates: try Data(contentsOf: URL(fileURLWithPath: path)))
        default:
            let folder = try TemporaryFolder()
            let made = try ChildProcess.run([
                "openssl", "pkcs12", "-export", "-in", path, "-out", folder.path + "/a.p12", "-passout", "pass:test",
            ])
            try #require(made.status == 0)
            let container = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/a.p12"))
            var items: CFArray?
            let options = [kSecImportExportPassphrase: "test"] as CFDictionary
            #expect(SecPKCS12Import(container as CFData, options, &items) == errSecSuccess)
            let first = try #require((items as? [[String: Any]])?.first)
            identity = try #require(first[kSecImportItemIdentity] as? SecIdentity)
        }
        #expect(isSecured(secure(server: [GCDAsyncSocketSSLCertificates: NSArray(array: [identity])])))
    }

    @Test("GCDAsyncSocketSSLIsServer") func isServer() {
        pair.server.startTLS([GCDAsyncSocketSSLIsServer: NSNumber(value: true)])
        #expect(eventually { pair.serverLog.has(StreamLog.ended(.otherError)) })
        #expect(pair.serverLog.error?.localizedDescription.contains("certificate") == true)
    }

    @Test("GCDAsyncSocketSSLPeerID") func peerID() {
        #expect(isSecured(secure([GCDAsyncSocketSSLPeerID: NSData(data: Data([1]))])))
    }

    @Test("GCDAsyncSocketSSLProtocolVersionMin") func oldest() {
        let number = NSNumber(value: SSLProtocol.tlsProtocol13.rawValue)
        let judge = secure(
            [GCDAsyncSocketSSLProtocolVersionMin: number],
            server: [GCDAsyncSocketSSLProtocolVersionMax: NSNumber(value: SSLProtocol.tlsProtocol12.rawValue)])
        #expect(eventually { judge.lines.withLock { $0.contains { $0.hasPrefix("disconnected -98") } } })
    }

    @Test("GCDAsyncSocketSSLProtocolVersionMax") func newest() {
        let number = NSNumber(value: SSLProtocol.tlsProtocol12.rawValue)
        #expect(isSecured(secure([GCDAsyncSocketSSLProtocolVersionMax: number])))
    }

    @Test("GCDAsyncSocketSSLSessionOptionFalseStart") func falseStart() {
        #expect(isSecured(secure([GCDAsyncSocketSSLSessionOptionFalseStart: NSNumber(value: true)])))
    }

    @Test("GCDAsyncSocketSSLSessionOptionSendOneByteRecord") func oneByteRecord() {
        #expect(isSecured(secure([GCDAsyncSocketSSLSessionOptionSendOneByteRecord: NSNumber(value: true)])))
    }

    @Test("GCDAsyncSocketSSLCipherSuites") func ciphers() {
        let suites = NSArray(array: [NSNumber(value: 0x1303), NSNumber(value: 0xC02B)])
        #expect(isSecured(secure([GCDAsyncSocketSSLCipherSuites: suites])))
        pair.listener.startTLS(nil)
        #expect(!pair.listener.isDisconnected)
    }

    @Test("GCDAsyncSocketSSLALPN") func protocols() {
        let names = NSArray(array: [NSString(string: "h2"), NSString(string: "http/1.1")])
        #expect(isSecured(secure([GCDAsyncSocketSSLALPN: names], server: [GCDAsyncSocketSSLALPN: names])))
    }

    @Test("GCDAsyncSocketSSLDiffieHellmanParameters") func diffieHellman() {
        #expect(isSecured(secure(server: [GCDAsyncSocketSSLDiffieHellmanParameters: NSData(data: Data([1]))])))
    }

    private static var wrong: [String: NSObject] {
        [
            GCDAsyncSocketSSLIsServer: NSString(string: "yes"), GCDAsyncSocketSSLPeerName: NSNumber(value: 1),
            kCFStreamSSLLevel: NSNumber(value: 1), kCFStreamSSLAllowsAnyRoot: NSNumber(value: true),
            kCFStreamSSLCertificates: NSArray(), kCFStreamSSLAllowsExpiredRoots: NSNumber(value: true),
            kCFStreamSSLAllowsExpiredCertificates: NSNumber(value: true),
            kCFStreamSSLValidatesCertificateChain: NSNumber(value: false),
            GCDAsyncSocketSSLCipherSuites: NSArray(array: [NSNumber(value: 0xFFFF)]),
        ]
    }

    @Test(
        "a value of the wrong type, or a key that is refused, disconnects with otherError",
        arguments: [
            GCDAsyncSocketSSLIsServer, GCDAsyncSocketSSLPeerName, kCFStreamSSLLevel, kCFStreamSSLAllowsAnyRoot,
            kCFStreamSSLCertificates, kCFStreamSSLAllowsExpiredRoots, kCFStreamSSLAllowsExpiredCertificates,
            kCFStreamSSLValidatesCertificateChain, GCDAsyncSocketSSLCipherSuites,
        ])
    func wrong(key: String) throws {
        pair.client.startTLS([key: try #require(Self.wrong[key])])
        #expect(eventually { pair.log.has(StreamLog.ended(.otherError)) }, "\(pair.log.lines)")
        #expect(pair.log.error?.localizedDescription.contains(key) == true)
    }

    @Test("manual trust of a server, or without the delegate's method, disconnects with otherError")
    func withoutJudge() {
        pair.client.startTLS([GCDAsyncSocketManuallyEvaluateTrust: NSNumber(value: true)])
        pair.server.startTLS(serverSettings())
        #expect(eventually { pair.log.has(StreamLog.ended(.otherError)) })
    }
}
