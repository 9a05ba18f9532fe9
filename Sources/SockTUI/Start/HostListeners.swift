import Glibc
import InspectorCore

/// The TCP sockets that listen on this host, as /proc tells.
enum HostListeners {
    /// One line of /proc/net/tcp that listens.
    struct Entry: Hashable {
        var address: String
        var inode: UInt64
    }

    /// At most so many are offered, and so many descriptors of other processes looked at.
    static let limit = 50
    private static let descriptorLimit = 20_000

    /// All that can be seen, with their programs where the kernel says.
    static func find() -> [StartOffers.Listening] {
        let v4 = entries(TextFile.read("/proc/net/tcp") ?? "")
        let v6 = entries(TextFile.read("/proc/net/tcp6") ?? "")
        var seen: Set<String> = []
        let entries = (v4 + v6).filter { seen.insert($0.address).inserted }.prefix(limit)
        let programs = programs(owning: Set(entries.map(\.inode)))
        return entries.map { StartOffers.Listening(address: $0.address, program: programs[$0.inode] ?? "") }
    }

    /// The listening sockets in the text of /proc/net/tcp or tcp6.
    static func entries(_ table: String) -> [Entry] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[3] == "0A", let inode = UInt64(fields[9]) else { return nil }
            return address(fields[1]).map { Entry(address: $0, inode: inode) }
        }
    }

    /// `0100007F:1F90` is 127.0.0.1:8080: words in the host's byte order, the port in hexadecimal.
    private static func address(_ text: Substring) -> String? {
        let halves = text.split(separator: ":")
        guard halves.count == 2, let port = UInt16(halves[1], radix: 16) else { return nil }
        var words: [UInt32] = []
        var rest = halves[0]
        while rest.count >= 8 {
            guard let word = UInt32(rest.prefix(8), radix: 16) else { return nil }
            words.append(word)
            rest = rest.dropFirst(8)
        }
        guard rest.isEmpty, words.count == 1 || words.count == 4 else { return nil }
        let family = words.count == 1 ? AF_INET : AF_INET6
        var name = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family, words, &name, socklen_t(name.count)) != nil else { return nil }
        let host = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return words.count == 1 ? "\(host):\(port)" : "[\(host)]:\(port)"
    }

    /// `name[pid]` for each inode that a process whose descriptors we may read has open.
    private static func programs(owning inodes: Set<UInt64>) -> [UInt64: String] {
        var missing = inodes
        var found: [UInt64: String] = [:]
        var looked = 0
        for process in names(in: "/proc") where process.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) {
            for descriptor in names(in: "/proc/\(process)/fd") {
                looked += 1
                guard let inode = inode("/proc/\(process)/fd/\(descriptor)"), missing.remove(inode) != nil
                else { continue }
                let name = TextFile.read("/proc/\(process)/comm", limit: 64) ?? ""
                found[inode] = "\(name.prefix { $0 != "\n" })[\(process)]"
            }
            if missing.isEmpty || looked > descriptorLimit { break }
        }
        return found
    }

    /// The number in a link that reads `socket:[number]`.
    private static func inode(_ link: String) -> UInt64? {
        var target = [CChar](repeating: 0, count: 64)
        let length = readlink(link, &target, target.count - 1)
        guard length > 0 else { return nil }
        let text = String(decoding: target[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard text.hasPrefix("socket:["), text.hasSuffix("]") else { return nil }
        return UInt64(text.dropFirst(8).dropLast())
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
