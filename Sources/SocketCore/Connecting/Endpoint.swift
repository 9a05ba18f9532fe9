/// Where to connect to or to listen on, as a person names it.
///
/// `Endpoint.parse` (EndpointGrammar) reads the text forms.
public enum Endpoint: Hashable, Sendable {
    /// A host name or numeric address, and a port. An empty host means every interface for a listen; a connect refuses
    /// it.
    case tcp(host: String, port: UInt16)
    /// A path of a Unix-domain socket, at most 107 bytes long.
    case unix(path: String)
    /// A name in Linux's abstract namespace, without the leading NUL, at most 107 bytes long.
    case abstract(name: String)
}

extension Endpoint: CustomStringConvertible {
    /// In the form that `parse` reads: `host:80`, `[::1]:80`, `:80`, `unix:/path`, `unix:@name`.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .abstract(let name): "unix:@\(name)"
        }
    }
}
