import CSocketKitOpenSSL
import SocketCore

extension TLSSettings {
    /// Sets the ciphers by their IANA numbers. TLS 1.3 suites are kept apart from the others. Returns the first that
    /// OpenSSL doesn't support, in which case nothing changes, or else `nil`.
    package mutating func setCiphers(_ numbers: [UInt16]) -> UInt16? {
        guard OpenSSL.isReady, let context = SSL_CTX_new(TLS_method()) else { return numbers.first }
        defer { SSL_CTX_free(context) }
        guard let ssl = SSL_new(context) else { return numbers.first }
        defer { SSL_free(ssl) }
        var (old, new): ([String], [String]) = ([], [])
        for number in numbers {
            let bytes = [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
            guard let cipher = SSL_CIPHER_find(ssl, bytes), let name = SSL_CIPHER_get_name(cipher) else {
                return number
            }
            if number >> 8 == 0x13 { new.append(String(cString: name)) } else { old.append(String(cString: name)) }
        }
        cipherList = old.isEmpty ? nil : old.joined(separator: ":")
        cipherSuites = new.isEmpty ? nil : new.joined(separator: ":")
        return nil
    }
}
