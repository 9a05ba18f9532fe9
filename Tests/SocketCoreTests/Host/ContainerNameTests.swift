import SocketCore
import Testing

@Suite("Names of containers")
struct ContainerNameTests {
    private static let hex = String(repeating: "0123456789abcdef", count: 4)

    @Test("the innermost container of a control group")
    func names() {
        let name = { ContainerName.text(cgroup: $0) }
        for path in [
            "/docker/\(Self.hex)", "/system.slice/docker-\(Self.hex).scope",
            "/machine.slice/libpod-\(Self.hex).scope/x",
            "/kubepods.slice/kubepods-besteffort.slice/kubepods-pod1.slice/cri-containerd-\(Self.hex).scope",
            "/kubepods/besteffort/pod7/\(Self.hex)",
        ] {
            #expect(name(path) == "0123456789ab", "\(path)")
        }
        #expect(name("/lxc/web/init.scope") == "web" && name("/lxc.payload.db/x") == "db")
        #expect(name("/machine.slice/machine-deb.scope") == "deb")
        for path in [
            "/", "", "/system.slice/nginx.service", "/user.slice/\(Self.hex.prefix(63))", "/x\(Self.hex)", "/lxc",
        ] {
            #expect(name(path) == nil, "\(path)")
        }
    }
}
