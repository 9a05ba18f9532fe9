import Glibc
import SocketKit
import SocketTestSupport
import Testing

extension LintBench {
    /// The peer becomes a TLS server with this certificate.
    func securePeer(_ name: String = "server") throws {
        let server = AsyncSocket(engine: SocketEngine())
        try server.adopt(descriptor: dup(pair.peer))
        try server.startTLS(.testServer(name))
        kept.append(server)
    }
}

extension Provocation {
    static let tls: [Provocation] = [
        Provocation("tls-behind") { bench in
            bench.fillUp()
            bench.socket.read(ReadRequest(.length(4), tag: 42))
            try bench.socket.startTLS(.testClient())
            #expect(bench.finds("tls-behind") == nil, "not at once")
            bench.pass(2)
            #expect(bench.finds("tls-behind") == "startTLS waits for read t42 and write t1")
        } relieved: { bench in
            try bench.pair.peerSends("four")
            bench.drain()
        },
        Provocation("tls-one-sided") { bench in
            bench.socket.read(ReadRequest(.length(4), tag: 42))
            try bench.socket.startTLS(.testClient())
            bench.pass(4)
            #expect(bench.finds("tls-one-sided") == nil, "not at once")
            bench.pass(2)
            #expect(bench.finds("tls-one-sided")?.contains("write queue has reached startTLS; read t42") == true)
        } relieved: { bench in
            try bench.pair.peerSends("four")
        },
        Provocation("tls-stall") { bench in
            try bench.socket.startTLS(.testClient())
            bench.pass(4)
            #expect(bench.finds("tls-stall") == nil, "not yet")
            bench.pass(2)
            #expect(bench.finds("tls-stall")?.contains("has not sent a byte") == true)
        } relieved: { bench in
            try bench.securePeer()
            #expect(eventually { bench.socket.isSecure })
        },
        Provocation("cert-unverified") { bench in
            try bench.securePeer("foreign")
            try bench.socket.startTLS(.testClient(trust: .anything))
            #expect(eventually { bench.finds("cert-unverified")?.contains("unable to get local issuer") == true })
        } relieved: { bench in
            bench.socket.disconnect()
        },
    ]
}
