import SocketCore
import Testing

/// What Foundation makes an `NSError` of, without Foundation.
@Suite struct ErrorBridgeTests {
    @Test func anErrorKeepsItsDomainAndCodeAsAnNSError() {
        let errors: [(any Error, String, Int)] = [
            (SocketError(.system(errno: 111), operation: "connect", detail: "x"), "NSPOSIXErrorDomain", 111),
            (SocketError(.readTimeout, operation: "read", detail: "x"), "GCDAsyncSocketErrorDomain", 4),
            (SocketError(.tls(.closedAbort), operation: "TLS", detail: "x"), "kCFStreamErrorDomainSSL", -9806),
        ]
        for (error, domain, code) in errors { #expect(error._domain == domain && error._code == code) }
    }
}
