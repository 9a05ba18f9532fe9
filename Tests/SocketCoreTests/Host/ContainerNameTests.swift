import SocketCore
import Testing

@Suite("Names of containers")
struct ContainerNameTests {
    private static let hex = String(repeating: "0123456789abcdef", count: 4)

    @Test("a Kubernetes pod, where the control group tells of no container in it")
    func pods() {
        let uid = "1a2b3c4d-1111-2222-3333-444455556666"
        let name = { ContainerName.text(cgroup: $0) }
        for path in [
            "/kubepods/burstable/pod\(uid)", "/kubepods/pod\(uid)/x", "/kubepods/pod1a2b3c4d\(Self.hex.prefix(24))",
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod\(uid.replacing("-", with: "_")).slice",
            "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod\(uid.replacing("-", with: "_")).slice/crio",
        ] {
            #expect(name(path) == "pod 1a2b3c4d" && ContainerName.pod(cgroup: path) == "pod 1a2b3c4d", "\(path)")
        }
        let inner = "/kubepods/burstable/pod\(uid)/\(Self.hex)"
        #expect(name(inner) == "0123456789ab" && ContainerName.pod(cgroup: inner) == "pod 1a2b3c4d")
        for path in [
            "/system.slice/pod\(uid)", "/kubepods/pod1", "/kubepods/tripod\(uid)", "/kubepods/pod\(uid)0", "/kubepods",
            "/kubepods/podxa2b3c4d-1111-2222-3333-444455556666",
        ] {
            #expect(name(path) == nil && ContainerName.pod(cgroup: path) == nil, "\(path)")
        }
    }

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
