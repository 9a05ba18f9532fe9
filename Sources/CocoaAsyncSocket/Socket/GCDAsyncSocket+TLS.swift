import Foundation
import SocketKit

extension GCDAsyncSocket {
    /// Starts TLS. Bytes queued before this call are sent unencrypted, and bytes queued after it are encrypted. Has no
    /// effect if the socket is not in use or is disconnecting. An invalid setting disconnects the socket with
    /// `otherError`.
    ///
    /// A client checks that the peer's certificate leads to an authority that this system trusts. It checks the name
    /// only if `GCDAsyncSocketSSLPeerName` is set.
    public func startTLS(_ tlsSettings: [String: NSObject]?) {
        guard let stream else { return }
        let error: SocketError? =
            switch Result(catching: { () throws(SocketError) in try TLSSettings(tlsSettings ?? [:]) }) {
            case .success(let settings): stream.refusal(of: settings)
            case .failure(let error): error
            }
        if let error { stream.disconnect(because: error) }
    }
}

extension AsyncSocket {
    /// Starts TLS. Returns what is wrong with the settings, or `nil`.
    fileprivate func refusal(of settings: TLSSettings) -> SocketError? {
        do throws(SocketError) {
            try startTLS(settings)
        } catch {
            if error.reason == .badParameter { return .other(error.detail) }
        }
        return nil
    }
}

extension SocketError {
    fileprivate static func other(_ detail: String) -> SocketError {
        SocketError(.other, operation: "startTLS", detail: detail)
    }
}

extension TLSSettings {
    /// Reads upstream's dictionary. Throws `other` for a rejected key or a value of the wrong type.
    init(_ values: [String: NSObject]) throws(SocketError) {
        for key in Self.refusedKeys where values[key] != nil {
            throw .other("\(key): is not available; use GCDAsyncSocketManuallyEvaluateTrust, or the protocol versions")
        }
        func value<Value>(_ key: String, _ type: Value.Type) throws(SocketError) -> Value? {
            guard let value = values[key] else { return nil }
            guard let typed = value as? Value else { throw .other("\(key): must be a \(type), not \(value)") }
            return typed
        }
        let isServer = try value(kCFStreamSSLIsServer, NSNumber.self)?.boolValue ?? false
        self = isServer ? .server(Identity(certificateFile: "")) : .client()
        identity = try Self.identity(value(kCFStreamSSLCertificates, NSArray.self))
        let name = try value(kCFStreamSSLPeerName, NSString.self)
        if !isServer {
            serverName = name.map { String(describing: $0) }
            checksName = name != nil
        }
        if try value(GCDAsyncSocketManuallyEvaluateTrust, NSNumber.self)?.boolValue == true {
            if isServer { throw .other("GCDAsyncSocketManuallyEvaluateTrust: is not supported for servers") }
            trustEvaluator = .delegate
        }
        resumesSessions = try value(GCDAsyncSocketSSLPeerID, NSData.self) != nil
        minimumVersion = try Self.version(value(GCDAsyncSocketSSLProtocolVersionMin, NSNumber.self)) ?? .tls12
        maximumVersion = try Self.version(value(GCDAsyncSocketSSLProtocolVersionMax, NSNumber.self)) ?? .tls13
        applicationProtocols = try Self.names(value(GCDAsyncSocketSSLALPN, NSArray.self))
        try setCiphers(value(GCDAsyncSocketSSLCipherSuites, NSArray.self))
        for key in [GCDAsyncSocketSSLSessionOptionFalseStart, GCDAsyncSocketSSLSessionOptionSendOneByteRecord] {
            _ = try value(key, NSNumber.self)
        }
        _ = try value(GCDAsyncSocketSSLDiffieHellmanParameters, NSData.self)
        // Upstream waits forever.
        handshakeTimeout = .seconds(60)
    }

    private static let refusedKeys = [
        kCFStreamSSLAllowsAnyRoot, kCFStreamSSLAllowsExpiredRoots, kCFStreamSSLAllowsExpiredCertificates,
        kCFStreamSSLValidatesCertificateChain, kCFStreamSSLLevel,
    ]

    private static func identity(_ array: NSArray?) throws(SocketError) -> Identity? {
        guard let array else { return nil }
        guard array.count > 0, let first = array.object(at: 0) as? SecIdentity else {
            throw .other("\(kCFStreamSSLCertificates): must begin with a SecIdentity")
        }
        return first.identity
    }

    private static func version(_ number: NSNumber?) throws(SocketError) -> Version? {
        guard let number else { return nil }
        switch SSLProtocol(rawValue: number.int32Value) {
        case .tlsProtocol1: return .tls10
        case .tlsProtocol11: return .tls11
        case .tlsProtocol12: return .tls12
        case .tlsProtocol13: return .tls13
        case .sslProtocolUnknown: return nil
        case .sslProtocol3, nil: throw .other("protocol version \(number): must be an SSLProtocol of TLS 1.0 to 1.3")
        }
    }

    private static func names(_ array: NSArray?) throws(SocketError) -> [String] {
        var names: [String] = []
        for element in array ?? [] {
            guard let name = element as? NSString else {
                throw .other("\(GCDAsyncSocketSSLALPN): must hold NSStrings, not \(element)")
            }
            names.append(String(describing: name))
        }
        return names
    }

    private mutating func setCiphers(_ array: NSArray?) throws(SocketError) {
        guard let array else { return }
        var numbers: [UInt16] = []
        for element in array {
            guard let number = element as? NSNumber else {
                throw .other("\(GCDAsyncSocketSSLCipherSuites): must hold NSNumbers, not \(element)")
            }
            numbers.append(number.uint16Value)
        }
        let unknown = setCiphers(numbers)
        if let unknown {
            throw .other("\(GCDAsyncSocketSSLCipherSuites): OpenSSL has no cipher 0x\(String(unknown, radix: 16))")
        }
    }
}
