import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Statements 110 to 113: user data, progress, addresses, and the prebuffer.
@Suite(.timeLimit(.minutes(10))) struct ValueStatements {
    @Test func statement110_userDataOutlivesTheSession() throws {
        let pair = try ConnectedPair()
        pair.socket.userData = "mine"
        pair.closePeer()
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.socket.userData as? String == "mine")
    }

    @Test func statement111_progressIsToldWhereThereIsAny() throws {
        let pair = try ConnectedPair()
        #expect(pair.picture?.reading.current == nil && pair.picture?.writing.current == nil)
        pair.socket.read(ReadRequest(.delimiter([10], limit: nil), tag: 1))
        pair.socket.read(ReadRequest(.length(10), tag: 2))
        try pair.peerSends("abc")
        #expect(eventually { pair.picture?.reading.current?.done == 3 })
        #expect(pair.picture?.reading.current?.total == nil, "no share of a whole that nobody knows")
        try pair.peerSends("\n1234")
        #expect(eventually { pair.picture?.reading.current?.done == 4 })
        let current = try #require(pair.picture?.reading.current)
        #expect(current.tag == 2 && current.total == 10)
        try pair.peerSends("567890")
        #expect(eventually { pair.recorder.calls.last == .text("1234567890", tag: 2) })
        #expect(pair.picture?.reading.current == nil)
    }

    @Test func statement112_addressesTellHostPortAndFamily() throws {
        let v4 = SocketAddress.v4(host: "127.0.0.1", port: 80)
        let v6 = SocketAddress.v6(host: "::1", port: 443)
        #expect(v4.host == "127.0.0.1" && v4.port == 80 && v4.family.isIP && v4.description == "127.0.0.1:80")
        #expect(v6.host == "::1" && v6.port == 443 && v6.family.isIP && v6.description == "[::1]:443")
        for unix in [SocketAddress.unix(path: "/s"), .abstract(name: "s"), .unnamed] {
            #expect(unix.host == nil && unix.port == nil && !unix.family.isIP)
        }
        // Each form comes back from the kernel as it went there; a descriptor without a peer has no address at all.
        let folder = try TemporaryFolder()
        let kernel = LinuxKernel()
        let forms: [SocketAddress] = [
            .v4(host: "127.0.0.1", port: 0), .v6(host: "::1", port: 0), .unix(path: folder.path + "/s"),
            .abstract(name: "socktui-112-\(getpid())"),
        ]
        for form in forms {
            guard case .bytes(let number) = kernel.openStream(for: form) else { continue }
            let handle = SocketHandle(Int32(number), kernel: kernel)
            #expect(kernel.bind(handle.descriptor, to: form) == 0)
            let bound = try #require(kernel.localAddress(handle.descriptor))
            #expect(form.family.isIP ? bound.host == form.host && bound.port != 0 : bound == form)
            #expect(kernel.peerAddress(handle.descriptor) == nil)
        }
    }

    /// The project's own example, save that an empty buffer owns no memory here.
    @Test func statement113_thePrebufferGivesBackWhatItWasGiven() {
        let bytes = (0..<512).map { UInt8(truncatingIfNeeded: $0) }
        var buffer = PreBuffer()
        #expect(buffer.isEmpty && buffer.count == 0 && buffer.reserved == 0)
        bytes.withUnsafeBytes { buffer.append($0) }
        let reserved = buffer.reserved
        #expect(buffer.count == 512 && reserved >= 512)
        #expect(buffer.take(256) == Array(bytes[..<256]))
        #expect(buffer.count == 256 && buffer.reserved == reserved)
        // Growth keeps the content.
        for _ in 0..<20 { bytes.withUnsafeBytes { buffer.append($0) } }
        #expect(buffer.count == 256 + 20 * 512 && buffer.reserved > reserved)
        #expect(buffer.take(256) == Array(bytes[256...]))
        for _ in 0..<20 { #expect(buffer.take(512) == bytes) }
        #expect(buffer.isEmpty && buffer.reserved == 0)
    }
}
