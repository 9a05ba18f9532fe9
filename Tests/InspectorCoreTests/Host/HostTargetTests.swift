import InspectorCore
import SocketCore
import Testing

@Suite("What why is asked about")
struct HostTargetTests {
    @Test(
        "a process, a name, a port and an address",
        arguments: [
            ("4711", HostTarget.process(4711)), ("nginx", .name("nginx")), (":9000", .port(9000)),
            ("localhost:9000", .port(9000)), ("127.0.0.1:80", .address(.v4(host: "127.0.0.1", port: 80))),
            ("[::1]:80", .address(.v6(host: "::1", port: 80))), ("unix:/run/x", .address(.unix(path: "/run/x"))),
            ("unix:@x", .address(.abstract(name: "x"))), ("/run/x.sock", .address(.unix(path: "/run/x.sock"))),
            ("udp://:53", .datagrams(.port(53))), ("tcp://:80", .port(80)),
            ("udp://127.0.0.1:53", .datagrams(.address(.v4(host: "127.0.0.1", port: 53)))),
        ])
    func read(_ text: String, _ target: HostTarget) throws {
        #expect(try HostTarget.parse(text) == target)
    }

    @Test("udp:// means no stream of that port")
    func datagrams() {
        var world = HostWorld()
        world.program(77, "dns")
        let (stream, datagrams) = (world.listen(77, 3, port: 53), world.datagrams(77, 4, port: 53))
        #expect(HostTarget.port(53).matches(world[stream]) && HostTarget.port(53).matches(world[datagrams]))
        let target = HostTarget.datagrams(.port(53))
        #expect(!target.matches(world[stream]) && target.matches(world[datagrams]) && "\(target)" == "udp://:53")
    }

    @Test(
        "what is none of them is named, with what would be right",
        arguments: ["", "0", "99999999999", ":0", ":99999", "host:", "example.org:80", "1.2.3:80", "udp://nginx"])
    func refused(_ text: String) {
        let problem = #expect(throws: HostTarget.Problem.self) { try HostTarget.parse(text) }
        #expect(problem?.sentence.contains(HostTarget.forms) == true)
        #expect(problem?.sentence.hasPrefix(text.isEmpty ? "why" : text) == true)
    }
}
