/// A protocol whose connections can begin TLS after some bytes of their own. The order is that of the numbers in
/// `SocketEvent.Kind.tlsUpgraded`, so new ones come last.
package enum UpgradedProtocol: String, CaseIterable, Sendable {
    case postgresql, mysql, smtp, imap, pop3, ftp

    package var name: String {
        switch self {
        case .postgresql: "PostgreSQL"
        case .mysql: "MySQL"
        case .smtp: "SMTP"
        case .imap: "IMAP"
        case .pop3: "POP3"
        case .ftp: "FTP"
        }
    }

    /// The number of the protocol in events.
    package var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
