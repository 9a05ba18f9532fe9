/// A user name and a password, sent in base64 (RFC 7617), so unencrypted unless TLS is used.
public struct HTTPCredentials: Hashable, Sendable {
    /// The user name, which must not contain a colon.
    public var user: String
    /// The password.
    public var password: String

    /// Creates credentials.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// The value of `Authorization` or `Proxy-Authorization`.
    package var basic: String { "Basic " + Base64.text(Array("\(user):\(password)".utf8)) }

    /// Why the credentials can't be sent, or `nil` if they can. A colon would hide where the name ends (RFC 7617, 2).
    package var fault: String? {
        if user.contains(":") { return "user: must not contain a colon" }
        let isPlain = (user + password).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        return isPlain ? nil : "user or password: must not contain a control character"
    }
}

extension HTTPCredentials: CustomStringConvertible {
    /// The user name. The password is never shown.
    public var description: String { "\(user):***" }
}
