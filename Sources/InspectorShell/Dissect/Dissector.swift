import Dispatch
import Glibc
import InspectorCore
import SocketKit

/// Runs tshark on packets as they arrive, and on all packets so far if one is requested in full. At most one such
/// process and one for the trees run at a time. Each ends with its input, which ends with this program.
package final class Dissector: Sendable {
    private struct Run: Sendable {
        var number: Int
        var child: Tool?
        var rules: [String]
        /// The packets given to tshark so far, for the trees.
        var packets: [UInt8] = []
    }

    private let post: @Sendable (DissectionNews) -> Void
    private let current = Lock<Run?>(nil)
    private let input = DispatchQueue(label: "socktui.dissect.input")
    private let trees = DispatchQueue(label: "socktui.dissect.trees")

    private static let missing =
        "tshark is not installed: sudo apt install tshark (Fedora, Arch: wireshark-cli); then :view dissected"
    private static let refusal =
        "tshark is not started under sudo or with --secure: it and its user plug-ins would parse untrusted "
        + "bytes with this program's rights; record as root, and open the file as a user"

    /// Why tshark is not run here, or `nil` if it would be.
    package static var problem: String? {
        Elevation.isRestricted ? refusal : Tool.path(of: "tshark") == nil ? missing : nil
    }

    package init(post: @escaping @Sendable (DissectionNews) -> Void) { self.post = post }

    package func perform(_ request: DissectionRequest) {
        switch request {
        case .begin(let run, let rules): begin(run, rules)
        case .packets(let run, let bytes): feed(run, bytes)
        case .finish(let run): finish(run)
        case .tree(let run, let item, let frames): tree(run, item, frames)
        case .stop: stop()
        }
    }

    /// Ends the running processes.
    package func stop() {
        let child = current.withLock { current in current.take()?.child }
        child?.kill()
        input.async { @Sendable in child?.endInput() }
    }

    // MARK: Summaries

    private func begin(_ number: Int, _ rules: [String]) {
        stop()
        if Elevation.isRestricted { return post(.ended(run: number, Self.refusal)) }
        guard let path = Tool.path(of: "tshark") else { return post(.ended(run: number, Self.missing)) }
        let fields = ["frame.number", "_ws.col.Protocol", "_ws.col.Info"].flatMap { ["-e", $0] }
        let words = [path, "-n", "-l", "-r", "-", "-T", "fields"] + fields + Self.options(rules)
        guard let child = Tool(words) else {
            return post(.ended(run: number, "\(path): \(SocketError.words(errno))"))
        }
        current.withLock { $0 = Run(number: number, child: child, rules: rules) }
        DispatchQueue(label: "socktui.dissect.output").async { @Sendable [post] in
            var lines = ToolLines()
            while let bytes = child.read() {
                let (new, cut) = lines.absorb(bytes)
                if !new.isEmpty { post(.lines(run: number, new, cut: cut)) }
            }
            let status = child.wait()
            post(.ended(run: number, status == 0 ? nil : child.complaint ?? "tshark ended with status \(status)"))
        }
    }

    private static func options(_ rules: [String]) -> [String] { rules.flatMap { ["-d", $0] } }

    private func feed(_ number: Int, _ bytes: [UInt8]) {
        let child = current.withLock { current -> Tool? in
            guard current?.number == number else { return nil }
            current?.packets += bytes
            return current?.child
        }
        input.async { @Sendable in child?.write(bytes) }
    }

    private func finish(_ number: Int) {
        let child = current.withLock { $0?.number == number ? $0?.child : nil }
        input.async { @Sendable in child?.endInput() }
    }

    // MARK: Trees

    /// The most lines of one tree, and its time limit.
    private static let lineLimit = 2_000
    private static let patience = 30

    private func tree(_ number: Int, _ item: UInt64, _ frames: [Int]) {
        guard let run = current.withLock({ $0?.number == number ? $0 : nil }), let path = Tool.path(of: "tshark") else {
            return
        }
        trees.async { @Sendable [self] in
            guard current.withLock({ $0?.number == number }) else { return }
            let wanted = "frame.number in {\(frames.map { "\($0)" }.joined(separator: ","))}"
            guard let child = Tool([path, "-n", "-r", "-", "-V", "-Y", wanted] + Self.options(run.rules)) else {
                return
            }
            let late = DispatchWorkItem { @Sendable in child.kill() }
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Self.patience), execute: late)
            DispatchQueue.global().async { @Sendable in
                child.write(run.packets)
                child.endInput()
            }
            var gathered = ToolLines()
            var (lines, more) = ([String](), 0)
            while let bytes = child.read() {
                for line in gathered.absorb(bytes).lines {
                    if lines.count < Self.lineLimit { lines.append(line) } else { more += 1 }
                }
            }
            late.cancel()
            if child.wait() != 0, lines.isEmpty { lines = [child.complaint ?? "tshark did not answer"] }
            post(.tree(run: number, item: item, lines, more: more))
        }
    }
}

/// The lines of a program's output, each truncated if it is too long.
package struct ToolLines {
    private var rest: [UInt8] = []
    /// Whether bytes of the current line were left out.
    private var isCut = false

    private static let limit = 2_048

    package mutating func absorb(_ bytes: ArraySlice<UInt8>) -> (lines: [String], cut: Int) {
        var (lines, cut) = ([String](), 0)
        for part in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
            if part.offset > 0 {
                if !rest.isEmpty { lines.append(String(decoding: rest, as: UTF8.self)) }
                if isCut { cut += 1 }
                (rest, isCut) = ([], false)
            }
            let room = Self.limit - rest.count
            rest += part.element.prefix(room)
            if part.element.count > room { isCut = true }
        }
        return (lines, cut)
    }
}
