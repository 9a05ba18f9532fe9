import Glibc
import SocketKit

struct MailClient {
    /// mail-client HOST:PORT SENDER RECIPIENT [CA-FILE]: sends standard input.
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count > 3 else { return print("mail-client HOST:PORT SENDER RECIPIENT [CA-FILE]") }
        var tls = TLSSettings.client()
        if arguments.count > 4 { tls.trust = .file(arguments[4]) }
        var lines: [String] = []
        while let line = readLine() { lines.append(line) }
        do {
            let server = try Endpoint.parse(arguments[1])
            try await send(lines, from: arguments[2], to: arguments[3], through: server, tls: tls)
        } catch {
            print(error)
            exit(1)
        }
    }

    static func send(
        _ lines: [String], from sender: String, to recipient: String, through server: Endpoint, tls: TLSSettings
    ) async throws {
        try await AsyncSocket.withConnection(to: server, on: SocketEngine(), timeout: .seconds(10)) { socket in
            let smtp = SMTP(socket: socket)
            try await smtp.receive("220")
            guard try await smtp.send("EHLO localhost", expecting: "250").contains("STARTTLS") else {
                throw SMTP.Failure(reply: "no STARTTLS")
            }
            try await smtp.send("STARTTLS", expecting: "220")
            try await socket.secure(tls)
            try await smtp.send("EHLO localhost", expecting: "250")
            try await smtp.send("MAIL FROM:<\(sender)>", expecting: "250")
            try await smtp.send("RCPT TO:<\(recipient)>", expecting: "250")
            try await smtp.send("DATA", expecting: "354")
            let body = lines.map { ($0.hasPrefix(".") ? "." : "") + $0 + "\r\n" }.joined()
            try await smtp.send(body + ".", expecting: "250")
            try await smtp.send("QUIT", expecting: "221")
        }
    }
}

struct SMTP {
    struct Failure: Error {
        var reply: String
    }

    let socket: AsyncSocket

    @discardableResult func send(_ line: String, expecting code: String) async throws -> [String] {
        try await socket.send(Array((line + "\r\n").utf8), timeout: .seconds(60))
        return try await receive(code)
    }

    /// Receives a reply, such as `250-SIZE` and then `250 STARTTLS`, and returns the words of its lines.
    @discardableResult func receive(_ code: String) async throws -> [String] {
        var words: [String] = []
        for try await line in socket.lines(limit: 2_048, timeout: .seconds(60)) {
            let reply = String(decoding: line.dropLast(2), as: UTF8.self)
            guard reply.hasPrefix(code), words.count < 100 else { throw Failure(reply: reply) }
            words.append(reply.dropFirst(4).uppercased())
            if reply.dropFirst(3).first != "-" { return words }
        }
        throw Failure(reply: "the server closed the connection")
    }
}
