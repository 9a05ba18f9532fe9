import Glibc
import InspectorCore
import SocketKit

/// A program that is asked who it is, and what has come of that.
struct AttachQuestion {
    private let path: String
    private var link: InspectionLink?
    private var decoder = InspectionFrameDecoder()
    private var hello: InspectionHello?
    /// The process there, as far as it can be told without an answer.
    private let process: Int

    /// Asks, without waiting. `nil` if there is no program that could answer.
    init?(_ path: String, _ mine: InspectionHello) {
        self.path = path
        do throws(AttachError) {
            let link = try InspectionLink(path: path)
            link.introduce(mine)
            (self.link, process) = (link, Int(link.process))
        } catch {
            // Its queue of viewers is full, so it has not run for a while. The socket is called after the process.
            let name = path.split(separator: "/").last?.prefix { $0 != "-" }
            guard error.isSilence, let number = name.flatMap({ Int($0) }) else { return nil }
            process = number
        }
    }

    /// Whether an answer may still come.
    var isOpen: Bool { link != nil && hello == nil }

    /// What poll(2) is asked about; -1 is left out by it.
    var descriptor: Int32 { isOpen ? link?.descriptor ?? -1 : -1 }

    /// Takes what has come. Whatever refuses or says something else is no program that can be attached to.
    mutating func takeAnswer() {
        do throws(AttachError) {
            hello = try link?.answer(&decoder)
        } catch {
            (link, isGone) = (nil, true)
        }
    }

    private var isGone = false

    /// The program; `nil` if it did not answer as one that can be attached to.
    var entry: AttachablePrograms.Entry? {
        guard !isGone else { return nil }
        return AttachablePrograms.Entry(
            path: path, hello: hello, process: process, program: hello?.program ?? Self.name(of: process))
    }

    /// As the kernel has it: fifteen bytes at most.
    private static func name(of process: Int) -> String {
        String((TextFile.read("/proc/\(process)/comm", limit: 64) ?? "").prefix { $0 != "\n" })
    }
}
