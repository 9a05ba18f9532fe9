import Testing

@testable import SocketCore

@Suite("Addresses")
struct AddressTests {
    private static let all: [(SocketAddress, String)] = [
        (.v4(host: "127.0.0.1", port: 80), "127.0.0.1:80"), (.v4(host: "0.0.0.0", port: 0), "0.0.0.0:0"),
        (.v4(host: "255.1.2.3", port: 65_535), "255.1.2.3:65535"), (.v6(host: "::1", port: 443), "[::1]:443"),
        (.v6(host: "2001:0db8:0:0::0010", port: 1), "[2001:db8::10]:1"),
        (.v6(host: "::ffff:192.0.2.1", port: 1), "[::ffff:192.0.2.1]:1"),
        (.v6(host: "fe80::1%eth0", port: 2), "[fe80::1%eth0]:2"), (.v4(host: "127.1", port: 3), "127.1:3"),
        (.v4(host: "no number", port: 4), "no number:4"), (.v4(host: "127.0.0.1\0x", port: 5), "127.0.0.1\0x:5"),
        (.unix(path: "/run/s"), "unix:/run/s"), (.abstract(name: "s"), "unix:@s"), (.unnamed, "unix:"),
    ]

    @Test("an address has the text that it was made of, in its usual form")
    func texts() {
        for (address, text) in Self.all {
            #expect(address.description == text)
            #expect(address.family.isIP == (address.host != nil) && address.family.isIP == (address.port != nil))
        }
        #expect(SocketAddress.unix(path: "/s").path == "/s" && SocketAddress.abstract(name: "s").path == nil)
        #expect(SocketAddress.abstract(name: "s").name == "s" && SocketAddress.unnamed.name == nil)
    }

    @Test("an address comes back from the wire as it was")
    func wire() throws {
        for (address, _) in Self.all { #expect(try SocketAddress(written: address.written) == address) }
    }

    @Test("two spellings of one host are one address")
    func spellings() {
        #expect(SocketAddress.v6(host: "2001:DB8:0::1", port: 1) == .v6(host: "2001:db8::1", port: 1))
        #expect(SocketAddress.v6(host: "::1", port: 1) != .v6(host: "::1", port: 2))
        #expect(SocketAddress.v4(host: "1.2.3.4", port: 1) != .v6(host: "::ffff:1.2.3.4", port: 1))
    }

    @Test("an address of the other text forms is the same endpoint")
    func endpoints() {
        #expect(Endpoint(.v6(host: "::1", port: 80)) == .tcp(host: "::1", port: 80))
        #expect(Endpoint(.abstract(name: "s")) == .abstract(name: "s") && Endpoint(.unnamed) == nil)
        #expect(Endpoint.udp(host: "::1", port: 1).datagramText == "udp://[::1]:1")
        #expect(Endpoint.unix(path: "/s").datagramText == "unixgram:/s" && Endpoint.abstract(name: "s").bare == "@s")
        for group in ["224.0.0.1", "239.255.255.255", "ff02::1%lo", "FF00::"] {
            #expect(Endpoint.udp(host: group, port: 1).isMulticast, "\(group)")
        }
        for host in ["223.0.0.1", "240.0.0.1", "fe80::1", "ff.example", "ff::1", ""] {
            #expect(!Endpoint.udp(host: host, port: 1).isMulticast, "\(host)")
        }
    }

    @Test(
        "a network has the addresses that begin with its bits",
        arguments: [
            ("192.0.2.0/24", "192.0.2.255", true), ("192.0.2.0/24", "192.0.3.0", false),
            ("192.0.2.128/25", "192.0.2.127", false), ("0.0.0.0/0", "255.0.0.1", true), ("0.0.0.0/0", "::1", false),
            ("10.0.0.1/32", "10.0.0.1", true), ("10.0.0.1/32", "10.0.0.0", false), ("::/0", "ff::", true),
            ("2001:db8::/32", "2001:db8:ffff::", true), ("2001:db8::/33", "2001:db8:8000::", false),
            ("2001:db8:0:1::/64", "2001:db8:0:1:ffff::", true), ("2001:db8:0:1::/65", "2001:db8:0:1:ffff::", false),
            ("::1/128", "::1", true), ("::1/128", "::", false),
        ])
    func networks(_ network: String, _ address: String, _ isIn: Bool) throws {
        let (base, bits) = try #require(IPAddress.network(network))
        #expect(try #require(IPAddress(address)).isIn(base, bits: bits) == isIn)
    }

    @Test(
        "what is no network",
        arguments: ["", "192.0.2.0", "192.0.2.0/33", "192.0.2/24", "::/129", "::/-1", "::/", "/8", "x/8", "::%lo/8"])
    func noNetworks(_ text: String) { #expect(IPAddress.network(text) == nil) }

    @Test("IPv4 inside IPv6 is IPv4")
    func mapped() throws {
        #expect(IPAddress("::ffff:192.0.2.1")?.unmapped == IPAddress("192.0.2.1"))
        for text in ["::fffe:192.0.2.1", "::192.0.2.1", "1::ffff:192.0.2.1", "::1", "192.0.2.1"] {
            #expect(IPAddress(text)?.unmapped == IPAddress(text), "\(text)")
        }
        #expect(IPAddress("127.0.0.1\0x") == nil && IPAddress("127.1") == nil && IPAddress("::1%lo") == nil)
    }

    @Test("an address takes another port, and says whether it means every one of its family")
    func facts() {
        #expect(SocketAddress.v4(host: "1.2.3.4", port: 1).with(port: 9) == .v4(host: "1.2.3.4", port: 9))
        #expect(SocketAddress.v6(host: "::1%lo", port: 1).with(port: 9) == .v6(host: "::1%lo", port: 9))
        #expect(SocketAddress.unix(path: "/s").with(port: 9) == .unix(path: "/s"))
        #expect(SocketAddress.v4(host: "0.0.0.0", port: 1).isWildcard)
        #expect(SocketAddress.v6(host: "::", port: 1).isWildcard)
        #expect(!SocketAddress.v4(host: "0.0.0.1", port: 1).isWildcard && !SocketAddress.unnamed.isWildcard)
        #expect(SocketAddress.unnamed.isSameFamily(as: .unix(path: "/s")))
        #expect(!SocketAddress.v4(host: "::", port: 1).isSameFamily(as: .v6(host: "::", port: 1)))
    }

    @Test("an address takes no more room than its text did")
    func size() {
        #expect(MemoryLayout<SocketAddress>.size <= 24)
    }
}
