import CSocketKitSystem
import Glibc
import SocketCore

/// Where programs that can be inspected are found: one Unix-domain socket each, in a folder of this user's own.
package enum InspectionFolder {
    /// `$XDG_RUNTIME_DIR/socktui`; where that is not set, below `/run/user`, or in /tmp with the user's number.
    package static var standard: String {
        if let text = ProcessEnvironment["XDG_RUNTIME_DIR"], text.hasPrefix("/") {
            return text + "/socktui"
        }
        let user = geteuid()
        return access("/run/user/\(user)", W_OK) == 0 ? "/run/user/\(user)/socktui" : "/tmp/socktui-\(user)"
    }

    /// Makes the folder where it is missing. Throws when it is not this user's alone.
    static func make(_ folder: String) throws(SocketError) {
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw .system(errno, operation: "inspect", subject: folder)
        }
        if let problem = problem(with: folder) { throw .refused("inspect", problem) }
    }

    /// What is wrong with the folder, as a sentence; nil: it is this user's alone.
    package static func problem(with folder: String) -> String? {
        var status = stat()
        guard lstat(folder, &status) == 0 else { return "\(folder): \(SocketError.words(errno))" }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            return "\(folder): must be a folder that belongs to this user alone (mode 0700)"
        }
        return nil
    }

    /// The sockets that are there. Those whose program is gone are removed.
    package static func endpoints(in folder: String = standard) -> [String] {
        guard problem(with: folder) == nil, let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            // Where it lies: the record ends behind the name, and is shorter than its type.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".sock") { names.append(name) }
        }
        return names.sorted().map { folder + "/" + $0 }.filter { !removeStale($0) }
    }

    /// Removes a socket file that nobody listens on; whether it did.
    private static func removeStale(_ path: String) -> Bool {
        let kernel = LinuxKernel()
        guard case .bytes(let descriptor) = kernel.openStream(for: .unix(path: path)) else { return false }
        let probe = SocketHandle(Int32(descriptor), kernel: kernel)
        guard kernel.connect(probe.descriptor, to: .unix(path: path)) == ECONNREFUSED else { return false }
        return kernel.removeSocketFile(path) == 0
    }

    /// Listens at a name of this process's own; the descriptor and the path.
    ///
    /// The socket gets the name that others look for only once it listens: whoever finds one of that name on which nobody
    /// listens removes it.
    static func listen(
        in folder: String, kernel: any Kernel = LinuxKernel()
    ) throws(SocketError) -> (descriptor: Int32, path: String) {
        let begun = ProcessBegin.ticks(of: getpid()) ?? 0
        for number in 1...64 {
            let bound = "\(folder)/\(getpid())-\(begun)\(number == 1 ? "" : "-\(number)")"
            let path = bound + ".sock"
            guard path.utf8.count <= Endpoint.longestUnixPath else {
                throw .refused(
                    "inspect", "\(path): longer than the \(Endpoint.longestUnixPath) bytes of a socket's path")
            }
            _ = removeStale(path)
            guard case .bytes(let opened) = kernel.openStream(for: .unix(path: path)) else { break }
            var socket = SocketHandle(Int32(opened), kernel: kernel)
            let failure = kernel.bind(socket.descriptor, to: .unix(path: bound))
            if failure == EADDRINUSE { continue }
            guard failure == 0 else { throw .system(failure, operation: "inspect", subject: path) }
            defer { unlink(bound) }
            guard chmod(bound, 0o600) == 0 else { throw .system(errno, operation: "inspect", subject: path) }
            let deaf = kernel.listen(socket.descriptor, backlog: 16)
            guard deaf == 0 else { throw .system(deaf, operation: "inspect", subject: path) }
            if link(bound, path) == 0 { return (socket.release(), path) }
            guard errno == EEXIST else { throw .system(errno, operation: "inspect", subject: path) }
        }
        throw .refused("inspect", "\(folder): too many engines of this process are inspected, or no descriptor is left")
    }
}

/// When processes began, as /proc has it.
package enum ProcessBegin {
    /// Clock ticks since the machine began; nil when there is no such process.
    package static func ticks(of process: pid_t) -> UInt64? {
        let file = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1_024)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        // The name, in parentheses, may hold anything: fields are counted from its end (proc(5): field 22).
        guard let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = bytes[(end + 1)..<count].split(separator: 0x20)
        return fields.count > 19 ? UInt64(String(decoding: fields[19], as: UTF8.self)) : nil
    }
}
