import Glibc
import SocketKit
import SocketTestSupport
import Synchronization
import Testing

/// Bytes of others, addresses in the kernel's form, identities in memory.
@Suite(.timeLimit(.minutes(10))) struct BytesTests {
    /// Bytes in memory of its own, which says when it is gone and who looked at it.
    private final class Owner: ContiguousBytesOwner {
        let bytes: [UInt8]
        let onRelease: @Sendable () -> Void
        let looks = Atomic<Int>(0)

        init(_ bytes: [UInt8], onRelease: @escaping @Sendable () -> Void = {}) {
            self.bytes = bytes
            self.onRelease = onRelease
        }

        deinit { onRelease() }

        var byteCount: Int { bytes.count }

        func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
            looks.add(1, ordering: .relaxed)
            bytes.withUnsafeBytes(body)
        }
    }

    @Test func foreignBytesAreWrittenInTheirOrderAndReleased() throws {
        let pair = try ConnectedPair()
        let isReleased = Lock(false)
        let count = 300_000
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let engine = pair.engine
        pair.socket.write(Array("before".utf8), tag: 1)
        pair.socket.write(
            contentsOf: Owner(bytes) {
                // What a user does as it dies runs where user code may run.
                _ = engine.snapshot()
                isReleased.withLock { $0 = true }
            }, tag: 2)
        pair.socket.write(Array("behind".utf8), tag: 3)
        #expect(try pair.peerReceives(6 + count + 6) == Array("before".utf8) + bytes + Array("behind".utf8))
        #expect(eventually { pair.recorder.calls.contains(.wrote(tag: 3)) })
        #expect(eventually { isReleased.withLock { $0 } })
        #expect(pair.recorder.calls.contains(.wrote(tag: 2)))
    }

    @Test func foreignBytesAreReleasedWhenTheirWriteFails() throws {
        let pair = try ConnectedPair()
        let released = Lock(0)
        for tag in 0..<3 {
            let owner = Owner([UInt8](repeating: 7, count: 8 << 20)) { released.withLock { $0 += 1 } }
            pair.socket.write(contentsOf: owner, tag: tag)
        }
        pair.socket.disconnect()
        #expect(eventually { released.withLock { $0 } == 3 })
        #expect(eventually { pair.recorder.failures.count == 3 })
        #expect(pair.recorder.failures.allSatisfy { $0.kind == .write && $0.total == 8 << 20 })
        pair.socket.write(contentsOf: Owner([1]) { released.withLock { $0 += 1 } })
        #expect(eventually { released.withLock { $0 } == 4 })
    }

    @Test func foreignBytesMoveWithTheirConnection() throws {
        let pair = try ConnectedPair()
        let other = SocketEngine()
        let isReleased = Lock(false)
        let bytes = [UInt8](repeating: 9, count: 16 << 20)
        pair.socket.write(contentsOf: Owner(bytes) { isReleased.withLock { $0 = true } })
        try pair.socket.move(to: other)
        #expect(try pair.peerReceives(bytes.count) == bytes)
        #expect(eventually { isReleased.withLock { $0 } })
    }

    @Test func foreignBytesPassEncrypted() throws {
        try #require(Certificates.problem == nil)
        let pair = try TLSPair()
        try pair.startTLS()
        let bytes = [UInt8](repeating: 5, count: 200_000)
        pair.server.read(ReadRequest(.length(bytes.count), tag: 4))
        pair.client.write(contentsOf: Owner(bytes))
        #expect(eventually { pair.serverSide.received == bytes })
    }

    @Test func addressesTakeTheKernelsFormAndComeBack() throws {
        let addresses: [SocketAddress] = [
            .v4(host: "192.0.2.7", port: 80), .v6(host: "2001:db8::1", port: 443), .unix(path: "/run/some.socket"),
        ]
        for address in addresses {
            let bytes = try #require(address.sockaddrBytes)
            #expect(bytes.withUnsafeBytes { SocketAddress(sockaddr: $0) } == address)
        }
        let v4 = try #require(addresses[0].sockaddrBytes)
        #expect(v4.count == 16 && Array(v4[2..<8]) == [0, 80, 192, 0, 2, 7])
        #expect(v4.dropLast().withUnsafeBytes { SocketAddress(sockaddr: $0) } == nil)
        #expect(addresses[1].withSockaddr { address, _ in address.pointee.sa_family } == sa_family_t(AF_INET6))
        #expect([UInt8]([255, 255, 0, 0]).withUnsafeBytes { SocketAddress(sockaddr: $0) } == nil)
        #expect([UInt8]([1]).withUnsafeBytes { SocketAddress(sockaddr: $0) } == nil)
        #expect(SocketAddress.v4(host: "not numeric", port: 1).sockaddrBytes == nil)
    }

    @Test func namesAreLookedUp() throws {
        #expect(
            try SocketAddress.addresses(ofHost: "localhost", port: 7)
                == [.v4(host: "127.0.0.1", port: 7), .v6(host: "::1", port: 7)])
        #expect(try SocketAddress.addresses(ofHost: "192.0.2.7", port: 9) == [.v4(host: "192.0.2.7", port: 9)])
        let unknown = #expect(throws: SocketError.self) {
            try SocketAddress.addresses(ofHost: "nobody.invalid", port: 9)
        }
        #expect(unknown?.domain == "kCFStreamErrorDomainNetDB")
        #expect(throws: SocketError.self) { try SocketAddress.addresses(ofHost: "", port: 9) }
    }

    @Test func anIdentityInMemorySecuresAConnection() throws {
        try #require(Certificates.problem == nil)
        let text = try Self.read(Certificates.path("server.pem"))
        let pair = try TLSPair()
        try pair.startTLS(server: .server(.pem(certificates: text)))
        #expect(pair.isSecured)
        let chain = pair.client.peerCertificates
        #expect(chain.first?.first == 0x30)
        #expect(chain.count == pair.client.tls?.chain.count)
        #expect(pair.server.peerCertificates.isEmpty)
    }

    @Test(arguments: [[], ["-legacy"]]) func aContainerSecuresAConnection(form: [String]) throws {
        try #require(Certificates.problem == nil)
        let folder = try TemporaryFolder()
        let path = folder.path + "/server.p12"
        let made = try ChildProcess.run(
            ["openssl", "pkcs12", "-export", "-in", Certificates.path("server.pem"), "-out", path]
                + ["-passout", "pass:test"] + form)
        try #require(made.status == 0, "\(made.errors)")
        let bytes = try Self.read(path)
        let pair = try TLSPair()
        try pair.startTLS(server: .server(.pkcs12(bytes, passphrase: "test")))
        #expect(pair.isSecured)
    }

    @Test func aWrongIdentityInMemoryIsRefusedInWords() throws {
        try #require(Certificates.problem == nil)
        let pair = try ConnectedPair()
        let server = try Self.read(Certificates.path("server.pem"))
        let other = try Self.read(Certificates.path("client.pem"))
        let wrong: [TLSSettings.Identity] = [
            .pem(certificates: Array("nothing".utf8)), .pem(certificates: server, key: other),
            .pkcs12(Array("nothing".utf8), passphrase: "test"), .pkcs12([], passphrase: ""),
            // A sequence with a version and nothing else, one that ends early, and one of another type.
            .pkcs12([0x30, 0x03, 0x02, 0x01, 0x03], passphrase: "test"),
            .pkcs12([0x30, 0x7F, 0x02, 0x01, 0x03], passphrase: "test"),
            .pkcs12([0x30, 0x03, 0x04, 0x01, 0x03], passphrase: "test"),
        ]
        for identity in wrong {
            let error = #expect(throws: SocketError.self) { try pair.socket.startTLS(.server(identity)) }
            #expect(error?.reason == .badParameter)
            #expect(error?.detail.hasPrefix("identity: ") == true, "\(error?.detail ?? "")")
        }
        #expect(pair.socket.isConnected)
    }

    private static func read(_ path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return bytes
    }
}
