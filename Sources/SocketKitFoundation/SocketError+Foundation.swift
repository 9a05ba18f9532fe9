public import Foundation
public import SocketKit

/// Conformance to Foundation's error protocols. `localizedDescription` is `detail`, one sentence for the user. The
/// domain and code of `error as NSError` are those of GCDAsyncSocket, GCDAsyncUdpSocket or SRWebSocket.
extension SocketError: LocalizedError {
    /// `detail`.
    public var errorDescription: String? { detail }
}

extension SocketError {
    /// The error as an `NSError` with `domain`, `code` and the sentence under `NSLocalizedDescriptionKey`. The user
    /// info holds only that sentence, even if an address was refused, a name did not resolve, or a server answered with
    /// an HTTP status.
    public var nsError: NSError {
        NSError(domain: domain, code: code, userInfo: [NSLocalizedDescriptionKey: detail])
    }
}
