public import Foundation
public import SocketKit

/// What Foundation's programs expect of an error. `localizedDescription` is `detail`, one sentence for a person; domain and
/// code of `error as NSError` are those of GCDAsyncSocket, GCDAsyncUdpSocket or SRWebSocket.
extension SocketError: LocalizedError {
    /// `detail`.
    public var errorDescription: String? { detail }
}

extension SocketError {
    /// The error with `domain`, `code` and its sentence under `NSLocalizedDescriptionKey`. If an address was refused, a
    /// name did not resolve, or a server answered with an HTTP status, the user info holds no more than that sentence.
    public var nsError: NSError {
        NSError(domain: domain, code: code, userInfo: [NSLocalizedDescriptionKey: detail])
    }
}
