import Glibc
import InspectorCore
import InspectorShell
import SocketKit
import SocketRecords

/// Sends a request to a running socktui: `socktui ctl`.
enum ControlRun {
    /// How long a program has to answer.
    private static let patience = Duration.seconds(5)

    /// Prints the answer. Returns the exit status.
    static func run(_ program: String, _ line: String) -> Int32 {
        do throws(AttachError) {
            let paths = try AttachablePrograms.paths(for: program)
            guard paths.count == 1 else {
                throw AttachError(
                    sentence:
                        "\(program): \(paths.count) programs have this name; use the PID that socktui attach lists"
                )
            }
            let answer = try ask(paths[0], line)
            if answer.isRefused { return Program.complain(answer.text, status: .failure) }
            return Program.show(answer.text.isEmpty ? "" : answer.text + "\n")
        } catch {
            return Program.complain(error.sentence, status: error.isMissing ? .nothing : .failure)
        }
    }

    private static func ask(_ path: String, _ line: String) throws(AttachError) -> InspectionAnswer {
        let link = try InspectionLink(path: path)
        var mine = InspectionHello()
        (mine.process, mine.program) = (Int(getpid()), "socktui ctl")
        var decoder = InspectionFrameDecoder()
        let theirs = try link.greet(mine, &decoder, within: patience)
        if let refusal = mine.refusal(of: theirs, who: path) { throw AttachError(sentence: refusal) }
        let bytes = InspectionFrame.request(line).bytes
        guard send(link.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw InspectionLink.silence
        }
        let end = ContinuousClock.now + patience
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            if let answer = try answer(&decoder) { return answer }
            var polled = pollfd(fd: link.descriptor, events: Int16(POLLIN), revents: 0)
            let left = (end - ContinuousClock.now).wholeNanoseconds / 1_000_000
            guard left > 0, poll(&polled, 1, Int32(left)) >= 0 || errno == EINTR else { throw InspectionLink.silence }
            let count = recv(link.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count != 0 else { throw AttachError(sentence: "\(path): the program has ended") }
            if count > 0 { decoder.append(buffer[..<count]) }
        }
    }

    /// Returns the answer among the program's other messages, or `nil` if it has not arrived yet.
    private static func answer(_ decoder: inout InspectionFrameDecoder) throws(AttachError) -> InspectionAnswer? {
        do throws(WireError) {
            while let frame = try decoder.next() {
                switch frame {
                case .answer(let answer): return answer
                case .refusal(let sentence): throw WireError.malformed(sentence)
                default: continue
                }
            }
            return nil
        } catch {
            let sentence = if case .malformed(let sentence) = error { sentence } else { "its answer is unreadable" }
            throw AttachError(sentence: sentence)
        }
    }
}

/// Returns as many whole lines as fit in an answer, and the number of the others.
func answered(_ lines: [String]) -> String {
    var (text, shown) = ("", 0)
    for line in lines {
        let next = shown == 0 ? line : text + "\n" + line
        guard next.utf8.count <= WireLimit.text - 32 else { break }
        (text, shown) = (next, shown + 1)
    }
    return shown < lines.count ? text + "\nand \(lines.count - shown) more" : text
}

extension SourceList {
    /// Lets `socktui ctl` change faults and breakpoints. Returns a sentence if that is not possible.
    func serveControl() -> String? {
        guard let engine = (own.source as? EngineSource)?.engine else { return nil }
        engine.requestHandler = { @Sendable [faults] line, then in
            switch FaultCommand.parse(line) {
            case .failure(let failure): then(InspectionAnswer(failure.message, isRefused: true))
            case .success(let command):
                faults.perform(command) {
                    then(InspectionAnswer(answered($0.lines), isRefused: $0.isRefusal))
                }
            }
        }
        do throws(SocketError) {
            try SocketInspection.serve(engine, rights: .control)
            return nil
        } catch {
            return "--control: \(error.detail)"
        }
    }
}
