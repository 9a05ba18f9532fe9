import Glibc
import SocketCore

/// Contexts made lately, so that connections with the same settings share what was read and the sessions to resume.
enum TLSContexts {
    private struct Key: Equatable {
        var settings: TLSSettings
        /// A file that was changed since is read again.
        var stamps: [FileStamp?]
    }

    /// Contexts kept, with their certificates and keys.
    private static let limit = 16
    private static let kept = Lock<[(key: Key, context: TLSContext)]>([])

    /// The context of these settings. Reads files: not for the engine's queue.
    static func context(for settings: TLSSettings) throws(SocketError) -> TLSContext {
        let key = Key(settings: settings, stamps: stamps(settings))
        if let found = kept.withLock({ list in list.first { $0.key == key }?.context }) { return found }
        let made = try TLSContext(settings)
        // Once more, since a key log file may have been made just now.
        let madeKey = Key(settings: settings, stamps: stamps(settings))
        kept.withLock { list in
            list.removeAll { $0.key.settings == settings }
            if list.count >= limit { list.removeFirst() }
            list.append((madeKey, made))
        }
        return made
    }

    private static func stamps(_ settings: TLSSettings) -> [FileStamp?] {
        var stamps: [FileStamp?] = []
        if let identity = settings.identity, identity.memory == nil {
            stamps += [FileStamp(identity.certificateFile), FileStamp(identity.keyFile)]
        }
        switch settings.trust {
        case .file(let path): stamps.append(FileStamp(path))
        case .system, .folder, .pinned, .anything: break
        }
        if let path = settings.keyLogFile { stamps.append(FileStamp(path)?.withoutContent) }
        return stamps
    }
}

/// Which file lies at a path, and in which state.
private struct FileStamp: Equatable {
    private let numbers: [Int]

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        numbers = [
            Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino), Int(status.st_size),
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
        ]
    }

    private init(_ numbers: [Int]) {
        self.numbers = numbers
    }

    var withoutContent: FileStamp { FileStamp(Array(numbers.prefix(2))) }
}
