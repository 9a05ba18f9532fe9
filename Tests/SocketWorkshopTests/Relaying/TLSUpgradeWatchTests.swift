import SocketCore
import SocketWorkshop
import Testing

/// TLS that begins inside another protocol.
struct TLSUpgradeWatchTests {
    private static let hello: [UInt8] = [22, 3, 1, 0, 200, 1, 0, 0]
    private static let sslRequest: [UInt8] = [0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F]
    private static let gssRequest: [UInt8] = [0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x30]
    private static let mysqlGreeting: [UInt8] = [74, 0, 0, 0, 10] + Array("8.0.36\0".utf8)
    private static let mysqlRequest: [UInt8] = [32, 0, 0, 1, 0x05, 0xAE] + [UInt8](repeating: 0, count: 30)

    /// What the server says first, what the client says then, and what that is.
    private static let upgrades: [(String, [UInt8], [UInt8], UpgradedProtocol)] = [
        ("PostgreSQL", [], sslRequest, .postgresql),
        ("PostgreSQL after GSSAPI", [], gssRequest + sslRequest, .postgresql),
        ("MySQL", mysqlGreeting, mysqlRequest, .mysql),
        ("SMTP", Array("220 mail ESMTP\r\n".utf8), Array("EHLO me\r\nSTARTTLS\r\n".utf8), .smtp),
        ("IMAP", Array("* OK ready\r\n".utf8), Array("a1 CAPABILITY\r\na2 starttls\r\n".utf8), .imap),
        ("POP3", Array("+OK ready\r\n".utf8), Array("STLS\r\n".utf8), .pop3),
        ("FTP", Array("220 ftp\r\n".utf8), Array("AUTH TLS\r\n".utf8), .ftp),
    ]

    private static func feed(_ greeting: [UInt8], _ client: [UInt8], piece: Int) -> (
        TLSUpgradeWatch, [TLSUpgradeWatch.Upgrade]
    ) {
        var watch = TLSUpgradeWatch()
        watch.receiveFromServer(greeting)
        var found: [TLSUpgradeWatch.Upgrade] = []
        for start in stride(from: 0, to: client.count, by: piece) {
            let bytes = Array(client[start..<min(start + piece, client.count)])
            if let upgrade = watch.receiveFromClient(bytes) { found.append(upgrade) }
        }
        return (watch, found)
    }

    @Test("it is noticed at its byte, however the bytes are split")
    func upgrades() {
        for (name, greeting, request, inside) in Self.upgrades {
            for piece in [1, 2, 7, 1_000] {
                let (watch, found) = Self.feed(greeting, request + Self.hello, piece: piece)
                #expect(found == [.init(inside: inside, offset: request.count)], "\(name) in pieces of \(piece)")
                #expect(watch.isOver)
            }
        }
    }

    @Test("a request without a ClientHello is none, and a later one is found")
    func refused() {
        for (name, greeting, request, _) in Self.upgrades {
            #expect(Self.feed(greeting, request + Array("QUIT\r\n".utf8), piece: 3).1.isEmpty, "\(name)")
        }
        let again = Array("STARTTLS\r\nNOOP\r\nSTARTTLS\r\n".utf8)
        let (_, found) = Self.feed(Array("220 mail\r\n".utf8), again + Self.hello, piece: 5)
        #expect(found == [.init(inside: .smtp, offset: again.count)])
    }

    @Test("other clients are not looked at for long")
    func others() {
        for first in [Array("GET / HTTP/1.1\r\n".utf8), Self.hello, Array("STARTTLS\r\n".utf8), [0, 0, 0, 8, 0, 3]] {
            #expect(Self.feed([], first, piece: 4).0.isOver)
        }
        let talk = Array(repeating: Array("NOOP\r\n".utf8), count: 1_000).flatMap { $0 }
        #expect(Self.feed(Array("220 mail\r\n".utf8), talk, piece: 100).0.isOver)
        let line = [UInt8](repeating: 0x41, count: 10_000)
        #expect(Self.feed(Array("220 mail\r\n".utf8), line, piece: 10_000).0.isOver)
        #expect(Self.feed(Self.mysqlGreeting, [40, 0, 0, 1] + line, piece: 50).0.isOver)
    }
}
