import Glibc
import SocketCore

/// Receives the kernel's reports of sockets that it destroys.
struct ClosingEvents: ~Copyable {
    private let descriptor: Int32
    /// The number of dropped reports already returned as lost.
    private var lostBefore: UInt32 = 0

    /// The most sockets taken at a time. The others wait for the next call.
    private static let most = 8_192
    private static let room = 4_096
    /// SO_MEMINFO, whose ninth number is the drop count.
    private static let memoryFacts: Int32 = 55

    /// Returns `nil` if this kernel does not report closed sockets, or access is refused.
    /// - Parameter size: The number of bytes that the kernel may buffer.
    static func open(_ system: HostSystem, _ namespace: Int32?, room size: Int32) -> ClosingEvents? {
        guard let descriptor = openDescriptor(system, namespace, room: size) else { return nil }
        return ClosingEvents(descriptor)
    }

    /// Opens a descriptor on which closed sockets are reported.
    static func openDescriptor(_ system: HostSystem, _ namespace: Int32?, room size: Int32) -> Int32? {
        guard let descriptor = try? system.openDiagnosis(namespace) else { return nil }
        guard prepare(descriptor, room: size) else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Takes ownership of a descriptor from `openDescriptor`.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    private static func prepare(_ descriptor: Int32, room: Int32) -> Bool {
        var room = room
        let length = socklen_t(MemoryLayout.size(ofValue: room))
        // Root may exceed the limit for other users.
        if setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &room, length) != 0 {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, length)
        }
        // struct sockaddr_nl: the family, and the groups as bits. An unbound socket receives no reports.
        let groups = HostSocket.closingGroups.reduce(UInt32(0)) { $0 | 1 << UInt32($1 - 1) }
        let address: [UInt32] = [UInt32(UInt16(AF_NETLINK)), 0, groups]
        return address.withUnsafeBytes { bytes in
            bytes.baseAddress.map { bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self), 12) == 0 } ?? false
        }
    }

    deinit { close(descriptor) }

    /// Returns the sockets closed since the last call, in order, and the number of reports that the kernel dropped.
    mutating func take(_ now: MonotonicTime) -> (sockets: [HostSocket], lost: UInt64) {
        var found: [HostSocket] = []
        var buffer = [UInt8](repeating: 0, count: Self.room)
        while found.count < Self.most {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            // Some reports were dropped. They are counted below, and the later ones can still be read.
            if count < 0, errno == EINTR || errno == ENOBUFS { continue }
            guard count > 0 else { break }
            var offset = 0
            let bytes = buffer.span.bytes.extracting(0..<count)
            while let message = NetlinkMessage.next(in: bytes, at: &offset) {
                guard message.kind == .data else { continue }
                if let socket = HostSocket(closing: bytes, message.content, time: now) { found.append(socket) }
            }
        }
        let lost = lost()
        defer { lostBefore = lost }
        return (found, UInt64(lost &- lostBefore))
    }

    private func lost() -> UInt32 {
        var numbers = [UInt32](repeating: 0, count: 9)
        var length = socklen_t(numbers.count * MemoryLayout<UInt32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, Self.memoryFacts, &numbers, &length) == 0 else { return lostBefore }
        return numbers[8]
    }
}

/// Closed sockets that were reported for a snapshot that then failed. The next snapshot includes them.
struct UntoldClosings {
    private var sockets: [HostSocket] = []
    private var lost: UInt64 = 0
    private static let most = 65_536

    mutating func keep(_ look: HostLook) {
        sockets = look.closings.suffix(Self.most)
        lost = (look.closingsLost ?? 0) + UInt64(look.closings.count - sockets.count)
    }

    mutating func take() -> (sockets: [HostSocket], lost: UInt64) {
        defer { (sockets, lost) = ([], 0) }
        return (sockets, lost)
    }
}
