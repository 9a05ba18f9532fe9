import InspectorCore
import SocketCore
import Testing

@Suite("What a person can open")
struct OpenTargetTests {
    @Test(
        "datagrams, and the interface to use",
        arguments: [
            ("udp://127.0.0.1:53", OpenTarget.datagrams(.udp(host: "127.0.0.1", port: 53))),
            ("UDP://[::1]:53", .datagrams(.udp(host: "::1", port: 53))),
            ("udp://:5000", .datagrams(.udp(host: "", port: 5_000))),
            ("udp://239.1.2.3:5000?interface=lo", .datagrams(.udp(host: "239.1.2.3", port: 5_000), interface: "lo")),
            ("udp://[ff02::1]:9?interface=eth0", .datagrams(.udp(host: "ff02::1", port: 9), interface: "eth0")),
            ("unixgram:/run/x", .datagrams(.unix(path: "/run/x"))),
            ("unixgram:@name", .datagrams(.abstract(name: "name"))),
        ])
    func datagrams(_ text: String, _ target: OpenTarget) throws {
        #expect(try OpenTarget.parse(text) == target)
        #expect(try OpenTarget.parse(target.description) == target)
        #expect(target.sessionTarget == target.description && !target.isSecure)
    }

    @Test("streams, TLS first or not")
    func streams() throws {
        let secure = OpenTarget.stream(.tcp(host: "h", port: 443), isSecure: true)
        #expect(try OpenTarget.parse("TLS://h:443") == secure)
        #expect(secure.description == "tls://h:443" && secure.sessionTarget == "h:443")
        #expect(try OpenTarget.parse("tls://:443", listens: true).endpoint == .tcp(host: "", port: 443))
        #expect(try OpenTarget.parse("tls://:443").endpoint == .tcp(host: "localhost", port: 443))
        #expect(try OpenTarget.parse("tls://unix:/s") == .stream(.unix(path: "/s"), isSecure: true))
    }

    @Test(
        "WebSockets to listen for",
        arguments: [
            ("ws://:0/chat", Endpoint.tcp(host: "", port: 0), "/chat", false),
            ("wss://[::1]:443", .tcp(host: "::1", port: 443), "/", true),
            ("ws+unix:/run/s:/p", .unix(path: "/run/s"), "/p", false),
        ])
    func webSockets(_ text: String, _ endpoint: Endpoint, _ resource: String, _ isSecure: Bool) throws {
        let target = try OpenTarget.parse(text, listens: true)
        guard case .webSocket(let url) = target else {
            Issue.record("\(target)")
            return
        }
        #expect(url.endpoint == endpoint && url.resource == resource && target.isSecure == isSecure)
        #expect(try OpenTarget.parse(target.description, listens: true) == target)
    }

    @Test(
        "what names nothing is refused by the whole of its name",
        arguments: [
            ("udp://", "host:port"), ("udp://host", "port"), ("udp://host:0", "1 to 65535"), ("udp://host:x", "port"),
            ("udp://10.0.0.1:9?interface=lo", "multicast group"), ("udp://239.1.2.3:9?if=lo", "interface=NAME"),
            ("udp://239.1.2.3:9?interface=", "interface=NAME"), ("udp://unix:/x", "host:port"), ("unixgram:", "path"),
            ("unixgram://x", "unixgram:/path"), ("unixgram:" + String(repeating: "x", count: 108), "107"),
            ("tls://udp://h:1", "TLS needs a stream"), ("tls://wss://h", "TLS needs a stream"),
            ("tls://", "write host:port"), ("tls://h", "the port is missing"), ("http://h:1", "ws://"),
        ])
    func refusals(_ text: String, _ word: String) throws {
        let error = try #require(throws: EndpointError.self) { try OpenTarget.parse(text) }
        #expect(error.text == text && error.problem.contains(word), "\(error)")
    }

    @Test("only streams are relayed")
    func relays() throws {
        #expect(try OpenTarget.parseStream("tls://h:1", listens: false).isSecure)
        let error = try #require(throws: EndpointError.self) { try OpenTarget.parseStream("udp://h:1", listens: false) }
        #expect(error.problem.contains("tls://") && !error.problem.contains("ws://"))
    }
}
