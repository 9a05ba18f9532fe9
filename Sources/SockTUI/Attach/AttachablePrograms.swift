import Glibc
import InspectorCore
import SocketKit

/// The programs of this user that let themselves be inspected.
enum AttachablePrograms {
    /// One of them, as it says itself.
    struct Entry {
        var path: String
        var hello: InspectionHello
    }

    /// Sockets that are asked at most, and how long all of them together may take to answer.
    private static let limit = 256
    private static let patience = Duration.seconds(3)

    /// All that answer in time. Sockets of programs that have ended are removed.
    static func list(in folder: String = InspectionFolder.standard) -> [Entry] {
        let end = ContinuousClock.now + patience
        return InspectionFolder.endpoints(in: folder).prefix(limit).compactMap { path in
            guard .now < end else { return nil }
            do throws(AttachError) {
                var mine = InspectionHello()
                mine.process = Int(getpid())
                mine.program = "socktui"
                var decoder = InspectionFrameDecoder()
                let link = try InspectionLink(path: path)
                return Entry(path: path, hello: try link.greet(mine, &decoder, within: .milliseconds(300)))
            } catch {
                return nil
            }
        }
    }

    /// The sockets that a person means by a path, a process's number or a program's name.
    static func paths(for name: String, in folder: String = InspectionFolder.standard) throws(AttachError) -> [String] {
        if name.contains("/") { return [name] }
        if let problem = InspectionFolder.problem(with: folder), access(folder, F_OK) == 0 {
            throw AttachError(sentence: problem)
        }
        let paths: [String]
        if Int(name) != nil {
            paths = InspectionFolder.endpoints(in: folder).filter {
                $0.dropFirst(folder.count + 1).hasPrefix(name + "-")
            }
        } else {
            paths = list(in: folder).filter { $0.hello.program == name }.map(\.path)
        }
        guard !paths.isEmpty else { throw AttachError(sentence: missing(name)) }
        return paths
    }

    private static func missing(_ name: String) -> String {
        if let process = Int32(name) {
            return kill(process, 0) != 0 && errno == ESRCH
                ? "there is no process \(name)" : "process \(name) does not let itself be inspected; \(howTo)"
        }
        return "no program called \(name) lets itself be inspected; \(howTo)"
    }

    /// What a person can do about it.
    static let howTo = "run it with SOCKETKIT_INSPECT=1, or let it call SocketInspection.serve(engine)"

    /// What the start screen offers.
    static func offers() -> [StartOffers.Program] {
        let now = SystemClock().wallNanoseconds
        return list().map { entry in
            StartOffers.Program(
                title: "\(entry.hello.program)[\(entry.hello.process)]", age: age(of: entry, now), path: entry.path)
        }
    }

    private static func age(of entry: Entry, _ now: Int64) -> String {
        "up " + Format.age(.nanoseconds(max(0, now - entry.hello.started)))
    }

    /// What `socktui attach` prints without an argument.
    static func table(_ entries: [Entry]) -> String {
        let now = SystemClock().wallNanoseconds
        let rows = entries.map { entry in
            [
                String(entry.hello.process), clean(entry.hello.program), clean(entry.hello.engine),
                age(of: entry, now), entry.hello.rights.rawValue, clean(entry.path),
            ]
        }
        let all = [["PID", "PROGRAM", "ENGINE", "SERVED", "RIGHTS", "SOCKET"]] + rows
        let widths = all[0].indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            row.indices.map {
                $0 == row.count - 1 ? row[$0] : row[$0] + String(repeating: " ", count: widths[$0] - row[$0].count)
            }
            .joined(separator: "  ")
        }.joined(separator: "\n")
    }

    private static func clean(_ text: String) -> String {
        var line = Line()
        Sanitizer(isASCII: false).append(text, to: &line)
        return line.text
    }
}
