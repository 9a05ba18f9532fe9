public import Foundation
public import SocketKit

extension Endpoint {
    /// The endpoint that a URL names: `tcp://host:port`, `udp://host:port` or any other scheme with a host and a port,
    /// `unix:/path` and `file:/path`.
    ///
    /// `nil` for a URL without a port, since a port cannot be derived from a scheme here, and for one without a host.
    public init?(_ url: URL) {
        switch url.scheme?.lowercased() {
        case "unix", "file":
            guard !url.path.isEmpty else { return nil }
            self = .unix(path: url.path)
        default:
            guard let host = url.host, !host.isEmpty, let port = url.port.flatMap(UInt16.init(exactly:)) else {
                return nil
            }
            self = .host(host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host, port: port)
        }
    }
}
