import Glibc

/// What Linux tells of processes and ports under /proc.
package enum ProcessFacts {
    /// The text of a file of /proc; empty where there is none.
    package static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = read(file, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Resident memory in bytes; nil where there is no such process.
    package static func residentBytes(_ process: pid_t) -> Int? {
        let lines = text("/proc/\(process)/status").split(separator: "\n")
        let words = lines.first { $0.hasPrefix("VmRSS:") }?.split { $0 == " " || $0 == "\t" }
        return words.flatMap { $0.count > 1 ? Int($0[1]) : nil }.map { $0 << 10 }
    }

    /// Whether a process handles a signal.
    package static func catches(_ signal: Int32, _ process: pid_t) -> Bool {
        let lines = text("/proc/\(process)/status").split(separator: "\n")
        let mask = lines.first { $0.hasPrefix("SigCgt:\t") }.flatMap { UInt64($0.dropFirst(8), radix: 16) }
        return (mask ?? 0) & 1 << UInt64(signal - 1) != 0
    }

    /// Bytes that a process has written to files, pipes and terminals; nil where that cannot be read.
    package static func writtenBytes(_ process: pid_t) -> Int? {
        let lines = text("/proc/\(process)/io").split(separator: "\n")
        return lines.first { $0.hasPrefix("wchar: ") }.flatMap { Int($0.dropFirst(7)) }
    }

    /// Whether somebody listens on this TCP port. To ask by a connect would use up a peer that takes but one.
    package static func isListening(_ port: UInt16) -> Bool { holds(port, ["tcp", "tcp6"], state: "0A") }

    /// Whether somebody has bound this UDP port. To ask by a bind would keep it from whom it is for.
    package static func isBound(_ port: UInt16) -> Bool { holds(port, ["udp", "udp6"], state: "07") }

    private static func holds(_ port: UInt16, _ tables: [String], state: String) -> Bool {
        let digits = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        return tables.contains { table in
            text("/proc/net/\(table)").split(separator: "\n").contains { line in
                let words = line.split(separator: " ")
                return words.count > 3 && words[1].hasSuffix(suffix) && words[3] == state
            }
        }
    }
}
