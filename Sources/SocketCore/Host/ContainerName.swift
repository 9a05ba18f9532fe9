/// The container that a control group belongs to, by how Docker, containerd, CRI-O, Podman, Kubernetes and LXC call those.
package enum ContainerName {
    /// The first 12 digits of a container's identifier, or the name of an LXC or systemd-nspawn container; `nil`: the group
    /// is none of a container. The innermost counts.
    package static func text(cgroup path: String) -> String? {
        let parts = path.split(separator: "/")
        for index in parts.indices.reversed() {
            if let digits = identifier(parts[index]) { return digits }
            if index > parts.startIndex, ["lxc", "lxc.payload"].contains(parts[index - 1]) { return cut(parts[index]) }
            if parts[index].hasPrefix("lxc.payload.") { return cut(parts[index].dropFirst("lxc.payload.".count)) }
            if parts[index].hasPrefix("machine-"), parts[index].hasSuffix(".scope") {
                return cut(parts[index].dropFirst("machine-".count).dropLast(".scope".count))
            }
        }
        return nil
    }

    /// `docker-HEX.scope`, `cri-containerd-HEX.scope`, `libpod-HEX`, `HEX`: 64 digits.
    private static func identifier(_ part: Substring) -> String? {
        let name = part.hasSuffix(".scope") ? part.dropLast(".scope".count) : part
        let digits = name.suffix(64)
        guard digits.count == 64, digits.allSatisfy({ $0.isHexDigit && $0.isASCII }) else { return nil }
        let before = name.dropLast(64)
        return before.isEmpty || before.last == "-" || before.last == ":" ? String(digits.prefix(12)) : nil
    }

    private static func cut(_ name: Substring) -> String? { name.isEmpty ? nil : String(name.prefix(32)) }
}
