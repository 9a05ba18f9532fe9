import Glibc
import SocketCore

/// A cache of recent contexts, so that connections with the same settings share loaded files and resumable sessions.
enum TLSContexts {
    private struct Key: Equatable {
        var settings: TLSSettings
        /// The stamps of the files. A file that has changed is read again.
        var stamps: [FileStamp?]
    }

    /// The most contexts that are cached, with their certificates and keys.
    private static let limit = 16
    private static let kept = Lock<[(key: Key, context: TLSContext)]>([])

    /// Returns the context of these settings. Reads files, so it must not be called on the engine's queue.
    static func context(for settings: TLSSettings) throws(SocketError) -> TLSContext {
        let key = Key(settings: settings, stamps: stamps(settings))
        if let found = kept.withLock({ list in list.first { $0.key == key }?.context }) { return found }
        let made = try TLSContext(settings)
        // The stamps are taken again, since the key log file may have just been created.
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

/// The identity and state of the file at a path.
private struct FileStamp: Equatable {
    private let numbers: [Int]

    init?(_ path: String) {
        var status = stat()
        guard path.withNative({ stat($0, &status) }) == 0 else { return nil }
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
