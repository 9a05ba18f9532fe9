import Glibc
import InspectorCore
import SocketKit
import SocketRecords

/// A greeting sent to a program, and the answer so far.
package struct AttachQuestion {
    private let path: String
    private var link: InspectionLink?
    private var decoder = InspectionFrameDecoder()
    private var hello: InspectionHello?
    /// The program's process, as far as it can be determined without an answer.
    private let process: Int

    /// Sends the greeting without waiting. Returns `nil` if there is no program that could answer.
    package init?(_ path: String, _ mine: InspectionHello) {
        self.path = path
        do throws(AttachError) {
            let link = try InspectionLink(path: path)
            link.introduce(mine)
            (self.link, process) = (link, Int(link.process))
        } catch {
            // Its queue of viewers is full, so it has not run for a while. The socket's name contains the process
            // number.
            let name = path.split(separator: "/").last?.prefix { $0 != "-" }
            guard error.isSilence, let number = name.flatMap({ Int($0) }) else { return nil }
            process = number
        }
    }

    /// Whether an answer may still arrive.
    package var isOpen: Bool { link != nil && hello == nil }

    /// The descriptor for poll(2). It ignores -1.
    package var descriptor: Int32 { isOpen ? link?.descriptor ?? -1 : -1 }

    /// Reads what has arrived. A refusal or any other answer means that the program can't be attached to.
    package mutating func readAnswer() {
        do throws(AttachError) {
            hello = try link?.answer(&decoder)
        } catch {
            (link, isGone) = (nil, true)
        }
    }

    private var isGone = false

    /// The program, or `nil` if its answer doesn't allow attaching.
    package var entry: AttachablePrograms.Entry? {
        guard !isGone else { return nil }
        return AttachablePrograms.Entry(
            path: path, hello: hello, process: process, program: hello?.program ?? Self.name(of: process))
    }

    /// Returns the kernel's name for the process, at most fifteen bytes.
    private static func name(of process: Int) -> String {
        String((TextFile.read("/proc/\(process)/comm", limit: 64) ?? "").prefix { $0 != "\n" })
    }
}
