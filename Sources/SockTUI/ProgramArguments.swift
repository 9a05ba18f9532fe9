import CSockTUITerminal
import Glibc
import InspectorShell
import SocketCore

/// The arguments of this program as they were given, without loss. `CommandLine` reads them from /proc and repairs them.
enum ProgramArguments {
    static var texts: [String] {
        var texts: [String] = []
        var next = cterminal_arguments()
        while let given = next, let text = given.pointee {
            texts.append(String(native: text))
            next = given + 1
        }
        return texts
    }

    /// Becomes the program of a `run`, if this process was started for that.
    static func becomeProgram() { NewProcess.become(cterminal_arguments()) }

    /// Replaces this process by another program with the same arguments. Returns only if that fails.
    static func execute(_ path: [CChar]) { execv(path, cterminal_arguments()) }
}
