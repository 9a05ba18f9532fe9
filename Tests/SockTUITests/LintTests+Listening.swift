import Glibc
import InspectorCore
import SocketKit
import SocketTestSupport
import SocketWorkshop
import Testing

@testable import InspectorShell
@testable import SockTUI

extension Provocation {
    static let listening: [Provocation] = [
        Provocation("open-proxy") { bench in
            let relay = Relay(
                engine: bench.engine,
                request: RelayRequest(listen: .tcp(host: "", port: 0), target: .proxy(.socks5)))
            try relay.start()
            bench.kept = [relay]
            bench.session = relay.session
            #expect(bench.finds("open-proxy")?.hasPrefix("SOCKS 5 proxy on every interface") == true)
        } relieved: { bench in
            (bench.kept.first as? Relay)?.stop()
        },
        Provocation("descriptors-out") { bench in
            let listener = SocketListener(engine: bench.engine, delegate: bench.pair.recorder)
            try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
            bench.kernel.fail(.accept, always: EMFILE)
            let socket = AsyncSocket(engine: bench.engine)
            try socket.connect(toHost: "127.0.0.1", port: listener.localAddress?.port ?? 0)
            bench.kept = [listener, socket]
            #expect(eventually { bench.finds("descriptors-out")?.contains("refused 1 descriptor, the last") == true })
            bench.pass(60)
            #expect(eventually { bench.finds("descriptors-out")?.contains("2 descriptors") == true }, "it lasts")
        } relieved: { bench in
            bench.kernel.fail(.accept, always: nil)
            bench.pass(4)
            #expect(bench.finds("descriptors-out") != nil, "not at once")
            bench.pass(2)
        },
    ]
}

@Suite("Warnings of open proxies")
struct OpenProxyTests {
    @Test(
        "a proxy is open where other hosts can reach it without a certificate",
        arguments: [
            ("0.0.0.0", ProxyKind.socks5, true), ("10.1.2.3", .http, true), ("::", .http, true),
            ("fe80::1", .socks5, true), ("127.0.0.1", .socks5, false), ("127.8.9.1", .http, false),
            ("::1", .http, false), ("@name", .socks5, false),
        ])
    func addresses(_ host: String, _ kind: ProxyKind, _ isOpen: Bool) throws {
        let local: SocketAddress =
            host.contains("@")
            ? .abstract(name: String(host.dropFirst()))
            : host.contains(":") ? .v6(host: host, port: 1080) : .v4(host: host, port: 1080)
        var request = RelayRequest(listen: .tcp(host: host, port: 1080), target: .proxy(kind))
        #expect(Self.warns(request, at: local) == isOpen)
        request.listenTLS = .server(TLSSettings.Identity(certificateFile: "c.pem", keyFile: nil))
        #expect(Self.warns(request, at: local) == isOpen, "TLS alone keeps nobody away")
        request.listenTLS?.clientCertificate = .required
        #expect(!Self.warns(request, at: local))
        request = RelayRequest(listen: request.listen, target: .endpoint(.tcp(host: "h", port: 80)))
        #expect(!Self.warns(request, at: local), "a relay goes to one place")
    }

    private static func warns(_ request: RelayRequest, at local: SocketAddress) -> Bool {
        var socket = SocketSnapshot(id: SocketID(1), role: .listener, phase: .listening, target: "", opened: .zero)
        socket.name = request.name
        socket.local = local
        return Lint.named("open-proxy")?.finds(Situation(Side(socket), now: .zero)) != nil
    }
}
