/// A network namespace of this host (network_namespaces(7)).
package struct HostNamespace: Hashable, Sendable, Codable {
    /// 0: the one that is looked at from; the others are numbered in the order of their first look. No other namespace gets
    /// this number while it exists.
    package var ordinal: UInt16
    /// The inode of its file, by which `ip netns` and `lsns` know it.
    package var inode: UInt64
    /// Its name below /run/netns. Not sanitized.
    package var name: String?
    /// Ports that the kernel may choose there for a connection (ip_local_port_range).
    package var localPorts: ClosedRange<UInt16>?

    package init(ordinal: UInt16, inode: UInt64, name: String? = nil) {
        (self.ordinal, self.inode, self.name) = (ordinal, inode, name)
    }

    /// Ports are of one moment, and not told.
    private enum CodingKeys: String, CodingKey { case ordinal, inode, name }

    /// Its name, `own`, or the number of its inode. Not sanitized.
    package var label: String { name ?? (ordinal == 0 ? "own" : "\(inode)") }

    /// Whether a filter's word means it: its name, `own`, or the first digits of its inode.
    package func matches(_ word: String) -> Bool {
        if word == name?.lowercased() || ordinal == 0 && word == "own" { return true }
        return !word.isEmpty && word.allSatisfy(\.isNumber) && "\(inode)".hasPrefix(word)
    }
}

extension HostSocket {
    /// Bits of an identity that are the kernel's cookie: a host that opens a million sockets a second needs nine years to
    /// use up these.
    private static let cookieBits: UInt64 = 48

    /// The identity of the socket that has this cookie in this namespace. Kernels before 5.4 count cookies for each
    /// namespace of its own.
    package static func id(cookie: UInt64, in namespace: UInt16) -> UInt64 {
        cookie ^ UInt64(namespace) << cookieBits
    }

    /// The kernel's cookie of the socket with this identity.
    package static func cookie(of id: UInt64) -> UInt64 { id & (1 << cookieBits - 1) }

    /// The kernel's cookie.
    package var cookie: UInt64 { Self.id(cookie: id, in: namespace) }

    /// The same socket, told of from this namespace; it is in that of the one who asked until then.
    package func placed(in namespace: UInt16) -> HostSocket {
        var socket = self
        socket.id = Self.id(cookie: cookie, in: namespace)
        socket.namespace = namespace
        return socket
    }
}

extension HostSnapshot {
    /// The identity of the socket, as `HostSocket` has it.
    package var key: UInt64 { HostSocket.id(cookie: cookie, in: namespace?.ordinal ?? 0) }

    /// The pod of a container that has a name of its own: `pod 1a2b3c4d`.
    package var pod: String? {
        let pod = cgroup.flatMap(ContainerName.pod)
        return pod == container ? nil : pod
    }
}

extension NetworkText {
    /// The inode in `net:[4026531840]`, the target of /proc/PID/ns/net; `nil`: it is of another form.
    package static func namespaceInode(_ link: [UInt8]) -> UInt64? {
        let text = String(decoding: link.prefix(64), as: UTF8.self)
        guard text.hasPrefix("net:["), text.hasSuffix("]") else { return nil }
        return UInt64(text.dropFirst(5).dropLast())
    }
}
