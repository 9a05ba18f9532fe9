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
            ("unix:@x", .address(.abstract(name: "x"))),
        ])
    func read(_ text: String, _ target: HostTarget) throws {
        #expect(try HostTarget.parse(text) == target)
    }

    @Test(
        "what is none of them is named, with what would be right",
        arguments: ["", "0", "99999999999", ":0", ":99999", "host:", "example.org:80", "1.2.3:80"])
    func refused(_ text: String) {
        let problem = #expect(throws: HostTarget.Problem.self) { try HostTarget.parse(text) }
        #expect(problem?.sentence.contains(HostTarget.forms) == true)
        #expect(problem?.sentence.hasPrefix(text.isEmpty ? "why" : text) == true)
    }
}
