import SocketCore
import Testing

@Suite("Endpoint grammar")
struct EndpointTests {
    @Test("two spellings of a name that differ in Unicode normalization are two endpoints")
    func normalization() {
        let (composed, decomposed) = ("/run/\u{E9}", "/run/e\u{301}")
        #expect(composed == decomposed)
        #expect(Endpoint.unix(path: composed) != .unix(path: decomposed))
        #expect(Endpoint.abstract(name: composed) != .abstract(name: decomposed))
        #expect(SocketAddress(.unix(composed)) != SocketAddress(.unix(decomposed)))
        #expect(Set([Endpoint.unix(path: composed), .unix(path: decomposed), .unix(path: composed)]).count == 2)
    }

    @Test(
        "reads every form that a person writes",
        arguments: [
            ("localhost:6379", Endpoint.tcp(host: "localhost", port: 6379)),
            ("127.0.0.1:1", .tcp(host: "127.0.0.1", port: 1)),
            ("imap.example:65535", .tcp(host: "imap.example", port: 65535)),
            (":8080", .tcp(host: "", port: 8080)),
            ("[::1]:80", .tcp(host: "::1", port: 80)),
            ("[::]:80", .tcp(host: "::", port: 80)),
            ("[2001:db8:0:0:0:0:0:5]:7070", .tcp(host: "2001:db8:0:0:0:0:0:5", port: 7070)),
            ("[fe80::1%lo]:80", .tcp(host: "fe80::1%lo", port: 80)),
            ("[::ffff:192.0.2.1]:80", .tcp(host: "::ffff:192.0.2.1", port: 80)),
            ("tcp://localhost:80", .tcp(host: "localhost", port: 80)),
            ("tcp://[::1]:80/", .tcp(host: "::1", port: 80)),
            ("TCP://localhost:80", .tcp(host: "localhost", port: 80)),
            ("unix:/run/name.sock", .unix(path: "/run/name.sock")),
            ("unix:///run/name.sock", .unix(path: "/run/name.sock")),
            ("unix:here.sock", .unix(path: "here.sock")),
            ("unix:@name", .abstract(name: "name")),
            ("/run/a b:c", .unix(path: "/run/a b:c")),
        ])
    func reads(text: String, endpoint: Endpoint) throws {
        #expect(try Endpoint.parse(text) == endpoint)
    }

    @Test("what it writes it reads", arguments: ["h:1", "[::1]:80", ":80", "unix:/a", "unix:@n", "[fe80::1%lo]:80"])
    func roundTrip(text: String) throws {
        #expect(try Endpoint.parse(text).description == text)
    }

    @Test(
        "names the text and says what would be right",
        arguments: [
            ("localhost:99999", "localhost:99999: the port must be 1 to 65535"),
            ("localhost:0", "localhost:0: the port must be 1 to 65535"),
            ("localhost:", "localhost:: no port after the colon"),
            ("localhost:+80", "localhost:+80: the port +80 is not a number; write digits, as in :80"),
            ("localhost:http", "localhost:http: the port http is not a number; write digits, as in :80"),
            ("unx:/run/a.sock", "unx:/run/a.sock: write a path as unix:/run/a.sock"),
            ("tcp:host:80", "tcp:host:80: write tcp://host:80, or host:80"),
            ("host:80:90", "host:80:90: too many colons; write host:port"),
            ("localhost", "localhost: the port is missing; write localhost:80"),
            ("[::1]", "[::1]: the port is missing; write [::1]:80"),
            ("::1:80", "::1:80: write an IPv6 address in brackets, as in [::1]:80"),
            ("[::1:80", "[::1:80: the ] after the address is missing"),
            ("[1::2::3]:80", "[1::2::3]:80: [1::2::3] is not an IPv6 address; write [::1]:80"),
            ("[fe80::1%]:80", "[fe80::1%]:80: [fe80::1%] is not an IPv6 address; write [::1]:80"),
            ("[localhost]:80", "[localhost]:80: [localhost] is not an IPv6 address; write [::1]:80"),
            ("[1:2:3:4:5:6:7]:80", "[1:2:3:4:5:6:7]:80: [1:2:3:4:5:6:7] is not an IPv6 address; write [::1]:80"),
            ("a b:80", "a b:80: a space is not allowed in a host name"),
            ("me@host:80", "me@host:80: \"@\" is not allowed in a host name"),
            ("http://h:80", "http://h:80: only tcp:// and unix: are supported here; write host:port"),
            ("unix:", "unix:: a path or @name must follow, as in unix:/run/name.sock"),
            ("unix:@", "unix:@: a path or @name must follow, as in unix:/run/name.sock"),
            ("", "an empty address: write host:port, [::1]:port, :port, unix:/path or unix:@name"),
            ("a\u{1B}b:80", "a?b:80: control characters are not allowed in an address"),
        ])
    func refuses(text: String, sentence: String) {
        let error = #expect(throws: EndpointError.self) { try Endpoint.parse(text) }
        #expect(error?.description == sentence)
    }

    @Test("a listener may take any free port")
    func portZero() throws {
        #expect(try Endpoint.parse(":0", allowsPortZero: true) == .tcp(host: "", port: 0))
        #expect(throws: EndpointError.self) { try Endpoint.parse(":65536", allowsPortZero: true) }
    }

    @Test("a path has at most 107 bytes")
    func pathLength() throws {
        let longest = "/" + String(repeating: "é", count: 53)
        #expect(try Endpoint.parse(longest) == .unix(path: longest))
        let error = #expect(throws: EndpointError.self) { try Endpoint.parse("unix:" + longest + "x") }
        #expect(error?.problem == "a Unix-domain socket's path has at most 107 bytes, this one 108")
    }
}
