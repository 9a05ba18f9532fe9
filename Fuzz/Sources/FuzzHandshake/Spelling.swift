import FuzzSupport

/// The fuzzer's bytes as a stranger's: each byte below 128 stands for itself, the others for a text that heads are made
/// of, so that a few of them make a whole head.
enum Spelling {
    static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    static let texts: [String] =
        [
            "\r\n", "\r\n\r\n", ": ", ", ", "; ", "\t", "0\r\n\r\n",
            "GET / HTTP/1.1\r\n", "GET /chat?room=1 HTTP/1.1\r\n", "GET ws://a/b HTTP/1.1\r\n", "POST / HTTP/1.1\r\n",
            "GET / HTTP/1.0\r\n", "HTTP/1.1 101 Switching Protocols\r\n", "HTTP/1.0 101 Yes\r\n", "HTTP/1.1 200\r\n",
            "HTTP/1.1 403 Forbidden\r\n", "HTTP/1.1 407 Who\r\n", "HTTP/1.1 302 Found\r\n",
            "Host: a\r\n", "Upgrade: websocket\r\n", "Connection: Upgrade\r\n", "Sec-WebSocket-Version: 13\r\n",
            "Sec-WebSocket-Key: \(key)\r\n", "Sec-WebSocket-Accept: \(accept)\r\n",
            "Sec-WebSocket-Protocol: chat, superchat\r\n", "Sec-WebSocket-Protocol: chat\r\n",
            "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n",
            "Sec-WebSocket-Extensions: ", "permessage-deflate", "server_no_context_takeover",
            "client_no_context_takeover", "server_max_window_bits", "client_max_window_bits", "=\"", "=9", "=15",
            "Content-Length: 0\r\n", "Content-Length: 5\r\n", "Content-Length: -", "Content-Length: ",
            "Transfer-Encoding: chunked\r\n", "Connection: keep-alive, upgrade\r\n", "Connection: close\r\n",
            "Proxy-Authenticate: Basic realm=\"a\"\r\n", "Origin: https://example.org\r\n", "upgrade: WebSocket\r\n",
            "Sec-WebSocket-Version: 8\r\n", "Sec-WebSocket-Key: ", "Sec-WebSocket-Accept: ", "Sec-WebSocket-Protocol: ",
        ]

    /// The bytes that are meant. Every other one behind the texts stands for 16 bytes of a long line.
    static func spell(_ input: inout FuzzInput) -> [UInt8] {
        var bytes: [UInt8] = []
        while !input.isEmpty {
            let choice = Int(input.byte())
            if choice < 128 {
                bytes.append(UInt8(choice))
            } else if choice - 128 < texts.count {
                bytes += Array(texts[choice - 128].utf8)
            } else {
                bytes += [UInt8](repeating: UInt8(choice), count: 16)
            }
        }
        return bytes
    }
}
