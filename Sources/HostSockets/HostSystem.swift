import CSocketKitSystem
import Glibc
import SocketCore

/// The system calls that read this host's state, each of which can be refused. Tests replace some of them.
package struct HostSystem: Sendable {
    /// A system call failed, with this errno.
    package struct Failure: Error, Equatable {
        package var number: Int32

        package init(_ number: Int32) { self.number = number }

        /// A call took too long, or was not made because too many others are stuck.
        static let late = Failure(ETIMEDOUT)
        static let busy = Failure(EBUSY)

        /// Whether access was refused, as opposed to the target not existing.
        package var isRefusal: Bool { number == EPERM || number == EACCES }
    }

    /// Reads up to `limit` bytes of a file, starting at `offset`.
    package var read: @Sendable (_ path: String, _ offset: Int, _ limit: Int) throws(Failure) -> [UInt8]
    /// Returns the target of a symbolic link.
    package var link: @Sendable (_ path: String) throws(Failure) -> [UInt8]
    /// Returns the names in a folder that are whole numbers.
    package var numbers: @Sendable (_ path: String) throws(Failure) -> [Int32]
    /// Reads up to `limit` bytes of a process's memory (process_vm_readv(2)).
    package var memory: @Sendable (_ process: Int32, _ address: UInt64, _ limit: Int) throws(Failure) -> [UInt8]
    /// Duplicates a process's descriptor (pidfd_getfd(2)). The caller closes the copy.
    package var duplicate: @Sendable (_ process: Int32, _ descriptor: Int32) throws(Failure) -> Int32
    /// Opens a socket for sock_diag(7) in the network namespace of a process, or in this one's. The caller closes it.
    package var openDiagnosis: @Sendable (_ namespace: Int32?) throws(Failure) -> Int32
    /// Returns how far each CPU's task clock is behind `now`, in nanoseconds.
    package var clockOffsets: @Sendable (_ processors: [Int]) -> [Int: Int64]
    /// CLOCK_MONOTONIC, which is also the engine's clock.
    package var now: @Sendable () -> MonotonicTime
    /// CLOCK_BOOTTIME, which the kernel uses for process start times.
    package var uptime: @Sendable () -> Duration

    /// The system calls of this host.
    package static let live = HostSystem(
        read: { path, offset, limit throws(Failure) in
            // Reading these can block on the process's memory, or while its epoll set is being changed.
            guard path.hasSuffix("/cmdline") || path.contains("/fdinfo/") else {
                return try readFile(path, offset, limit)
            }
            return try patience.run { () throws(Failure) in try readFile(path, offset, limit) }
        },
        link: readLink, numbers: readNumbers,
        memory: { process, address, limit throws(Failure) in
            try patience.run { () throws(Failure) in try readMemory(process, address, limit) }
        },
        duplicate: { process, descriptor throws(Failure) in
            let copy = csystem_duplicate(process, descriptor)
            guard copy >= 0 else { throw Failure(errno) }
            return copy
        },
        openDiagnosis: openDiagnosis, clockOffsets: ProcessorClocks.measure,
        now: { MonotonicTime(nanoseconds: nanoseconds(CLOCK_MONOTONIC)) },
        uptime: { .nanoseconds(nanoseconds(CLOCK_BOOTTIME)) })

    private static let patience = Patience()

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    @Sendable private static func readFile(_ path: String, _ offset: Int, _ limit: Int) throws(Failure) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard file >= 0 else { throw Failure(errno) }
        defer { close(file) }
        if offset > 0, lseek(file, off_t(offset), SEEK_SET) < 0 { throw Failure(errno) }
        var bytes: [UInt8] = []
        var problem: Int32 = 0
        while bytes.count < limit {
            let room = min(limit - bytes.count, bytes.isEmpty ? 4_096 : 65_536)
            let piece = [UInt8](unsafeUninitializedCapacity: room) { buffer, filled in
                let count = Glibc.read(file, buffer.baseAddress, room)
                (filled, problem) = (max(0, count), count < 0 ? errno : 0)
            }
            if problem == EINTR { continue }
            if problem != 0 { throw Failure(problem) }
            if piece.isEmpty { break }
            bytes = bytes.isEmpty ? piece : bytes + piece
        }
        return bytes
    }

    @Sendable private static func readLink(_ path: String) throws(Failure) -> [UInt8] {
        var problem: Int32 = 0
        let target = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, filled in
            let count = buffer.withMemoryRebound(to: CChar.self) {
                $0.baseAddress.map { readlink(path, $0, 4_096) } ?? 0
            }
            (filled, problem) = (max(0, count), count < 0 ? errno : 0)
        }
        if problem != 0 { throw Failure(problem) }
        return target
    }

    @Sendable private static func readNumbers(_ path: String) throws(Failure) -> [Int32] {
        guard let stream = opendir(path) else { throw Failure(errno) }
        defer { closedir(stream) }
        var numbers: [Int32] = []
        errno = 0
        while let entry = readdir(stream) {
            // Read the name in place: the record ends after the name and is shorter than its type.
            withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    var end: UnsafeMutablePointer<CChar>?
                    let number = strtol(name, &end, 10)
                    if name[0] >= 48, name[0] <= 57, end?.pointee == 0 { numbers.append(Int32(clamping: number)) }
                }
            }
        }
        return numbers
    }

    @Sendable private static func readMemory(
        _ process: Int32, _ address: UInt64, _ limit: Int
    ) throws(Failure) -> [UInt8] {
        var problem: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
            let count = csystem_read_memory(process, address, buffer.baseAddress, limit)
            (filled, problem) = (max(0, count), count < 0 ? errno : 0)
        }
        if problem != 0 { throw Failure(problem) }
        return bytes
    }

    @Sendable private static func openDiagnosis(_ namespace: Int32?) throws(Failure) -> Int32 {
        guard let namespace else {
            let descriptor = csystem_diag_open()
            guard descriptor >= 0 else { throw Failure(errno) }
            return descriptor
        }
        let place = open("/proc/\(namespace)/ns/net", O_RDONLY | O_CLOEXEC)
        guard place >= 0 else { throw Failure(errno) }
        defer { close(place) }
        let (descriptor, problem) =
            OwnThread.run { () -> (Int32, Int32) in
                guard csystem_enter_network(place) == 0 else { return (-1, errno) }
                let descriptor = csystem_diag_open()
                return (descriptor, descriptor < 0 ? errno : 0)
            } ?? (-1, EAGAIN)
        guard descriptor >= 0 else { throw Failure(problem) }
        return descriptor
    }
}

extension HostSystem {
    /// Returns the text of a small file below /proc, or `nil` if it does not exist or may not be read.
    func text(_ path: String, limit: Int = 65_536) -> [UInt8]? { try? read(path, 0, limit) }

    /// Reads files whose text depends on the network namespace of the reading thread.
    func networkTexts(_ paths: [String], _ namespace: Int32?) -> [[UInt8]?] {
        guard let namespace else { return paths.map { text($0) } }
        let place = open("/proc/\(namespace)/ns/net", O_RDONLY | O_CLOEXEC)
        guard place >= 0 else { return [] }
        defer { close(place) }
        return OwnThread.run { csystem_enter_network(place) == 0 ? paths.map { text($0) } : [] } ?? []
    }

    /// Returns the target of a link as text, or `nil` if it does not exist or may not be read.
    func target(_ path: String) -> String? { (try? link(path)).map { String(decoding: $0, as: UTF8.self) } }
}
