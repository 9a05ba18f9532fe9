/// A network namespace of this host (network_namespaces(7)).
package struct HostNamespace: Hashable, Sendable {
    /// 0 for the viewer's own namespace. The others are numbered in the order they were first seen. No other namespace
    /// gets this number while this one exists.
    package var ordinal: UInt16
    /// The inode of its file, which `ip netns` and `lsns` show.
    package var inode: UInt64
    /// Its name under /run/netns. Not sanitized.
    package var name: String?
    /// The ports that the kernel may choose for a connection there (ip_local_port_range).
    package var localPorts: ClosedRange<UInt16>?

    package init(ordinal: UInt16, inode: UInt64, name: String? = nil) {
        (self.ordinal, self.inode, self.name) = (ordinal, inode, name)
    }

    /// Whether it is that of who looks at its host.
    package var isOwn: Bool { HostOrdinal.hostNamespace(ordinal) == 0 }

    /// Its name, `own`, or the number of its inode. Not sanitized.
    package var label: String { name ?? (isOwn ? "own" : "\(inode)") }

    /// Whether a word of a filter names it: its name, `own`, or the first digits of its inode.
    package func matches(_ word: String) -> Bool {
        if word == name?.lowercased() || isOwn && word == "own" { return true }
        return !word.isEmpty && word.allSatisfy(\.isNumber) && "\(inode)".hasPrefix(word)
    }
}

extension HostSocket {
    /// The bits of an identity that hold the kernel's cookie. A host that opens a million sockets a second needs nine
    /// years to use them up.
    private static let cookieBits: UInt64 = 48

    /// Returns the identity of the socket with this cookie in this namespace. Kernels before 5.4 count cookies
    /// separately for each namespace.
    package static func id(cookie: UInt64, in namespace: UInt16) -> UInt64 {
        cookie ^ UInt64(namespace) << cookieBits
    }

    /// Returns the kernel's cookie of the socket with this identity.
    package static func cookie(of id: UInt64) -> UInt64 { id & (1 << cookieBits - 1) }

    /// The kernel's cookie.
    package var cookie: UInt64 { Self.id(cookie: id, in: namespace) }

    /// Returns the same socket in this namespace. Until then it is in the viewer's own.
    package func placed(in namespace: UInt16) -> HostSocket {
        var socket = self
        socket.id = Self.id(cookie: cookie, in: namespace)
        socket.namespace = namespace
        return socket
    }
}

extension HostSnapshot {
    /// The socket's identity, as in `HostSocket`.
    package var key: UInt64 { HostSocket.id(cookie: cookie, in: namespace?.ordinal ?? 0) }

    /// The pod as `pod 1a2b3c4d`, or `nil` if there is none or the container has no other name.
    package var pod: String? {
        let pod = cgroup.flatMap(ContainerName.pod)
        return pod == container ? nil : pod
    }
}

extension NetworkText {
    /// Returns the inode in `net:[4026531840]`, the target of /proc/PID/ns/net, or `nil` if the form is different.
    package static func namespaceInode(_ link: [UInt8]) -> UInt64? {
        let text = String(decoding: link.prefix(64), as: UTF8.self)
        guard text.hasPrefix("net:["), text.hasSuffix("]") else { return nil }
        return UInt64(text.dropFirst(5).dropLast())
    }
}
