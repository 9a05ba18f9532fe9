import Glibc
import InspectorCore
import SocketKit
import SocketRecords

/// This user's programs that allow inspection.
package enum AttachablePrograms {
    package struct Entry {
        package var path: String
        /// The program's greeting, or `nil` if it did not answer.
        package var hello: InspectionHello?
        package var process: Int
        package var program: String
    }

    /// The most sockets that are queried, and the time allowed for answers. All are queried at once, so that stopped
    /// programs don't hide others.
    private static let limit = 256
    private static let patience = Duration.seconds(1)

    /// Lists all programs and the answers that arrive in time. Removes the sockets of programs that have ended.
    package static func list(in folder: String = InspectionFolder.standard) -> [Entry] {
        var mine = InspectionHello()
        mine.process = Int(getpid())
        mine.program = "socktui"
        var questions = InspectionFolder.endpoints(in: folder).prefix(limit).compactMap { AttachQuestion($0, mine) }
        let end = ContinuousClock.now + patience
        while questions.contains(where: \.isOpen) {
            var polled = questions.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            // What has come is read also if this program itself was held up for as long.
            let left = max(0, (end - ContinuousClock.now).wholeNanoseconds / 1_000_000)
            guard poll(&polled, nfds_t(polled.count), Int32(left)) >= 0 || errno == EINTR else { break }
            for index in questions.indices where polled[index].revents != 0 { questions[index].readAnswer() }
            if left == 0 { break }
        }
        return questions.compactMap(\.entry)
    }

    /// Returns the sockets meant by a path, a process number or a program name.
    package static func paths(for name: String, in folder: String = InspectionFolder.standard) throws(AttachError)
        -> [String]
    {
        if name.contains("/") {
            let isListed = name.hasPrefix(folder + "/") && !name.dropFirst(folder.count + 1).contains("/")
            if !isListed, let refusal = Elevation.refusal { throw AttachError(sentence: "\(name): \(refusal)") }
            return [name]
        }
        if let problem = InspectionFolder.problem(with: folder), folder.withNative({ access($0, F_OK) }) == 0 {
            throw AttachError(sentence: problem)
        }
        let paths: [String]
        if Int(name) != nil {
            paths = InspectionFolder.endpoints(in: folder).filter {
                $0.dropFirst(folder.count + 1).hasPrefix(name + "-")
            }
        } else {
            let programs = list(in: folder).filter { $0.program == name }
            // A silent program is used only if no other has that name, so that the user learns the reason.
            let answering = programs.filter { $0.hello != nil }
            paths = (answering.isEmpty ? programs : answering).map(\.path)
        }
        guard !paths.isEmpty else { throw AttachError(sentence: missing(name), isMissing: true) }
        return paths
    }

    private static func missing(_ name: String) -> String {
        if let process = Int32(name) {
            return kill(process, 0) != 0 && errno == ESRCH
                ? "there is no process \(name)" : "process \(name) is not inspectable; \(howTo)"
        }
        return "no inspectable program is named \(name); \(howTo)"
    }

    /// What the user can do about it.
    package static let howTo = "run it with SOCKETKIT_INSPECT=1, or have it call SocketInspection.serve(engine)"

    /// Returns the programs for the start screen to offer.
    package static func offers() -> [StartOffers.Program] {
        let now = SystemClock().wallNanoseconds
        return list().map { entry in
            StartOffers.Program(
                title: "\(entry.program)[\(entry.process)]",
                age: entry.hello.map { age(of: $0, now) } ?? silent, path: entry.path)
        }
    }

    /// The text shown for a program that does not answer.
    private static let silent = "does not answer"

    private static func age(of hello: InspectionHello, _ now: Int64) -> String {
        "up " + Format.age(.nanoseconds(max(0, now - hello.started)))
    }

    /// Returns what `socktui attach` prints without an argument.
    package static func table(_ entries: [Entry]) -> String {
        let now = SystemClock().wallNanoseconds
        let rows = entries.map { entry in
            [
                String(entry.process), clean(entry.program), clean(entry.hello?.engine ?? "-"),
                entry.hello.map { age(of: $0, now) } ?? "-", entry.hello?.rights.rawValue ?? silent,
                clean(entry.path),
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
