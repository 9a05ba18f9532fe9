public import Foundation
public import SocketKit

extension Endpoint {
    /// Creates the endpoint for a URL: `tcp://host:port`, `udp://host:port` or any other scheme with a host and a port,
    /// `unix:/path` and `file:/path`.
    ///
    /// Returns `nil` if the URL has no host, or no port, since the port is not derived from the scheme.
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
