import CSocketKitSystem
import Glibc
import SocketCore

/// The folder in which programs that can be inspected are found. Each has a Unix-domain socket there. The folder
/// belongs to this user alone.
package enum InspectionFolder {
    /// `$XDG_RUNTIME_DIR/socktui` if that is set. Otherwise `/run/user/UID/socktui`, or `/tmp/socktui-UID` if
    /// `/run/user/UID` is not writable.
    package static var standard: String {
        if let text = ProcessEnvironment["XDG_RUNTIME_DIR"], text.hasPrefix("/") {
            return text + "/socktui"
        }
        let user = geteuid()
        return access("/run/user/\(user)", W_OK) == 0 ? "/run/user/\(user)/socktui" : "/tmp/socktui-\(user)"
    }

    /// Creates the folder if it is missing. Throws if it does not belong to this user alone.
    static func make(_ folder: String) throws(SocketError) {
        guard folder.withNative({ mkdir($0, 0o700) }) == 0 || errno == EEXIST else {
            throw .system(errno, operation: "inspect", subject: folder)
        }
        if let problem = problem(with: folder) { throw .refused("inspect", problem) }
    }

    /// Returns what is wrong with the folder, as a sentence, or `nil` if it belongs to this user alone.
    package static func problem(with folder: String) -> String? {
        var status = stat()
        guard folder.withNative({ lstat($0, &status) }) == 0 else { return "\(folder): \(SocketError.words(errno))" }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            return "\(folder): must be a folder that belongs to this user alone (mode 0700)"
        }
        return nil
    }

    /// Returns the sockets in the folder. Removes those whose program has ended.
    package static func endpoints(in folder: String = standard) -> [String] {
        guard problem(with: folder) == nil, let stream = folder.withNative({ opendir($0) }) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            // Read in place: the record ends after the name, and is shorter than its type.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(native: $0) }
            }
            if name.hasSuffix(".sock") { names.append(name) }
        }
        return names.sorted().map { folder + "/" + $0 }.filter { !removeStale($0) }
    }

    /// Removes a socket file that no process listens on. Returns whether it did.
    private static func removeStale(_ path: String) -> Bool {
        let kernel = LinuxKernel()
        guard case .bytes(let descriptor) = kernel.openStream(for: .unix(path: path)) else { return false }
        let probe = SocketHandle(Int32(descriptor), kernel: kernel)
        guard kernel.connect(probe.descriptor, to: .unix(path: path)) == ECONNREFUSED else { return false }
        return kernel.removeSocketFile(path) == 0
    }

    /// Listens on a name of this process's own. Returns the descriptor and the path.
    ///
    /// The socket gets the name that viewers look for only once it listens, because a viewer removes a socket of that
    /// name on which no process listens.
    static func listen(
        in folder: String, kernel: any Kernel = LinuxKernel()
    ) throws(SocketError) -> (descriptor: Int32, path: String) {
        let begun = ProcessBegin.ticks(of: getpid()) ?? 0
        for number in 1...64 {
            let bound = "\(folder)/\(getpid())-\(begun)\(number == 1 ? "" : "-\(number)")"
            let path = bound + ".sock"
            guard path.nativeBytes.count <= Endpoint.longestUnixPath else {
                throw .refused(
                    "inspect", "\(path): longer than the \(Endpoint.longestUnixPath) bytes of a socket's path")
            }
            _ = removeStale(path)
            guard case .bytes(let opened) = kernel.openStream(for: .unix(path: path)) else { break }
            var socket = SocketHandle(Int32(opened), kernel: kernel)
            let failure = kernel.bind(socket.descriptor, to: .unix(path: bound))
            if failure == EADDRINUSE { continue }
            guard failure == 0 else { throw .system(failure, operation: "inspect", subject: path) }
            defer { bound.withNative { unlink($0) } }
            guard bound.withNative({ chmod($0, 0o600) }) == 0 else {
                throw .system(errno, operation: "inspect", subject: path)
            }
            let deaf = kernel.listen(socket.descriptor, backlog: 16)
            guard deaf == 0 else { throw .system(deaf, operation: "inspect", subject: path) }
            if bound.withNative(and: path, { link($0, $1) }) == 0 { return (socket.release(), path) }
            guard errno == EEXIST else { throw .system(errno, operation: "inspect", subject: path) }
        }
        throw .refused("inspect", "\(folder): too many engines of this process are inspected, or no descriptor is left")
    }
}

/// The start times of processes, from /proc.
package enum ProcessBegin {
    /// Returns the start time in clock ticks since boot, or `nil` if there is no such process.
    package static func ticks(of process: pid_t) -> UInt64? {
        let file = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1_024)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        // The name, in parentheses, may contain anything, so fields are counted from its end (proc(5): field 22).
        guard let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = bytes[(end + 1)..<count].split(separator: 0x20)
        return fields.count > 19 ? UInt64(String(decoding: fields[19], as: UTF8.self)) : nil
    }
}
