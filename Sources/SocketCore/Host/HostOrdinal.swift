/// The number of a host in a view of several, by which the numbers that their kernels give are told apart. Each kernel
/// counts its processes, inodes and sockets for itself. In a view of one host it is 0, and all numbers are the kernel's.
package struct HostOrdinal: Hashable, Sendable, Comparable {
    package let number: Int

    /// The most hosts of a view, and the most network namespaces of each.
    package static let most = 64
    private static let processBits = 22
    private static let inodeBits: UInt64 = 32
    private static let processMask = Int32(1) << processBits - 1

    /// Returns `nil` for a number beyond the most.
    package init?(_ number: Int) {
        guard (0..<Self.most).contains(number) else { return nil }
        self.number = number
    }

    private init(valid number: Int) { self.number = number }

    package static func < (left: HostOrdinal, right: HostOrdinal) -> Bool { left.number < right.number }

    // MARK: Packing

    /// Returns the ordinal of a namespace in the view, or `nil` if no host gives it.
    package func namespace(_ own: UInt16) -> UInt16? {
        own < Self.most ? UInt16(number * Self.most) + own : nil
    }

    /// Returns an inode in the view, or 0 if no kernel gives it.
    package func inode(_ own: UInt64) -> UInt64 {
        own == 0 || own >> Self.inodeBits != 0 ? 0 : own | UInt64(number) << Self.inodeBits
    }

    /// Returns a process or a thread in the view, or `nil` if no kernel gives its number (PID_MAX_LIMIT).
    package func process(_ own: Int32) -> Int32? {
        own >= 0 && own <= Self.processMask ? own | Int32(number) << Self.processBits : nil
    }

    // MARK: Unpacking

    /// The host of a namespace of the view.
    package init(ofNamespace namespace: UInt16) { self.init(valid: Int(namespace) / Self.most % Self.most) }

    /// The host of a process of the view.
    package init(ofProcess process: Int32) { self.init(valid: Int(process >> Self.processBits) & (Self.most - 1)) }

    /// The host of an inode of the view.
    package init(ofInode inode: UInt64) { self.init(valid: Int(inode >> Self.inodeBits & UInt64(Self.most - 1))) }

    /// Returns the number that its host's kernel gave a process or a thread.
    package static func kernelProcess(_ packed: Int32) -> Int32 { packed & processMask }

    /// Returns the inode that its host's kernel gave.
    package static func kernelInode(_ packed: UInt64) -> UInt64 { packed & (1 << inodeBits - 1) }

    /// Returns the ordinal of a namespace on its host.
    package static func hostNamespace(_ packed: UInt16) -> UInt16 { packed % UInt16(most) }
}

/// A host of a view of several.
package struct HostMachine: Equatable, Sendable {
    /// The name by which the user asked for it. Not sanitized.
    package var name: String
    /// What precedes a command to run it there, such as `ssh web1`. Not sanitized.
    package var command: String
    /// Whether its looks arrive as often as they should.
    package var isLive = true
    /// Whether nothing more comes from it, so that what is known of it is what was last seen.
    package var isLost = false
    package var hidden = HostLook.Hidden()

    package init(name: String, command: String) { (self.name, self.command) = (name, command) }
}

extension HostSocket {
    /// The host that it is on.
    package var host: HostOrdinal { HostOrdinal(ofNamespace: namespace) }
}
