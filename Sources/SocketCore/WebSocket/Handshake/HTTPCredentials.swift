/// A name and a password, sent as they are but for base64 (RFC 7617), so in clear unless TLS is beneath.
public struct HTTPCredentials: Hashable, Sendable {
    /// Who; it holds no colon.
    public var user: String
    /// The secret.
    public var password: String

    /// Names both.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// The value of `Authorization` or `Proxy-Authorization`.
    package var basic: String { "Basic " + Base64.text(Array("\(user):\(password)".utf8)) }

    /// Why they cannot be sent: with a colon nobody knows where the name ends (RFC 7617, 2).
    package var fault: String? {
        if user.contains(":") { return "user: must hold no colon" }
        let isPlain = (user + password).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        return isPlain ? nil : "user or password: must hold no control character"
    }
}

extension HTTPCredentials: CustomStringConvertible {
    /// The name; the password is shown nowhere.
    public var description: String { "\(user):***" }
}
