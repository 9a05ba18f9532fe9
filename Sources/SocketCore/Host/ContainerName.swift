/// The container that a control group belongs to, by the naming schemes of Docker, containerd, CRI-O, Podman,
/// Kubernetes and LXC.
package enum ContainerName {
    /// Returns the first 12 digits of a container's identifier, the name of an LXC or systemd-nspawn container, or
    /// `pod 1a2b3c4d` if a Kubernetes group names no container. Returns `nil` if the group is not a container's. The
    /// innermost container counts.
    package static func text(cgroup path: String) -> String? {
        let parts = path.split(separator: "/")
        for index in parts.indices.reversed() {
            if let digits = identifier(parts[index]) { return digits }
            if let pod = pod(parts[...index]) { return pod }
            if index > parts.startIndex, ["lxc", "lxc.payload"].contains(parts[index - 1]) { return cut(parts[index]) }
            if parts[index].hasPrefix("lxc.payload.") { return cut(parts[index].dropFirst("lxc.payload.".count)) }
            if parts[index].hasPrefix("machine-"), parts[index].hasSuffix(".scope") {
                return cut(parts[index].dropFirst("machine-".count).dropLast(".scope".count))
            }
        }
        return nil
    }

    /// Returns `pod 1a2b3c4d`, with the first digits of the identifier of the group's Kubernetes pod, or `nil` if it
    /// has none. The group doesn't contain the pod's name.
    package static func pod(cgroup path: String) -> String? {
        let parts = path.split(separator: "/")
        return parts.indices.reversed().lazy.compactMap { pod(parts[...$0]) }.first
    }

    /// Matches `kubepods/burstable/podUID`, and under systemd `kubepods-burstable-podUID.slice` with `_` for `-`. The
    /// identifier is a UUID, or 32 digits for a node's own pods.
    private static func pod(_ path: ArraySlice<Substring>) -> String? {
        guard let part = path.last, path.contains(where: { $0.contains("kubepods") }) else { return nil }
        let name = part.hasSuffix(".slice") ? part.dropLast(".slice".count) : part
        for length in [36, 32] where name.count >= length + 3 {
            let (before, uid) = (name.dropLast(length), name.suffix(length))
            let digits = uid.filter { $0 != "-" && $0 != "_" }
            guard before == "pod" || before.hasSuffix("-pod"), digits.count == 32, digits.allSatisfy(isDigit) else {
                continue
            }
            return "pod \(digits.prefix(8))"
        }
        return nil
    }

    private static func isDigit(_ character: Character) -> Bool { character.isHexDigit && character.isASCII }

    /// Matches `docker-HEX.scope`, `cri-containerd-HEX.scope`, `libpod-HEX` and `HEX`, which is 64 digits.
    private static func identifier(_ part: Substring) -> String? {
        let name = part.hasSuffix(".scope") ? part.dropLast(".scope".count) : part
        let digits = name.suffix(64)
        guard digits.count == 64, digits.allSatisfy(isDigit) else { return nil }
        let before = name.dropLast(64)
        return before.isEmpty || before.last == "-" || before.last == ":" ? String(digits.prefix(12)) : nil
    }

    private static func cut(_ name: Substring) -> String? { name.isEmpty ? nil : String(name.prefix(32)) }
}
