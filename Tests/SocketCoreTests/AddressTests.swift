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
            #expect(address.isUnix == (address.host == nil) && address.isUnix == (address.port == nil))
            #expect(address.isUnix != address.family.isIP)
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
