import SocketCore

/// The command that prints a program's thread stacks, chosen by its runtime.
package enum StackCommand {
    /// A program's runtime.
    package enum Runtime: Equatable, Sendable {
        case python, java, node, go, native

        /// Detects the runtime from the base name of an executable, or from the program's name if that is not known.
        package init(executable: String, isGo: Bool = false) {
            self =
                if executable.hasPrefix("python") || executable.hasPrefix("pypy") {
                    .python
                } else if executable == "java" {
                    .java
                } else if executable == "node" || executable == "nodejs" {
                    .node
                } else {
                    isGo ? .go : .native
                }
        }
    }

    /// Returns the command, with the thread to look for if the runtime numbers threads differently.
    package static func text(_ runtime: Runtime, process: Int, thread: Int? = nil) -> String {
        switch runtime {
        case .python: "py-spy dump --pid \(process)"
        case .java:
            "jcmd \(process) Thread.print" + (thread.map { "  # nid=0x\(String($0, radix: 16))" } ?? "")
        case .node: "node inspect -p \(process)"
        case .go: "dlv attach \(process)  # then: goroutines"
        case .native: "eu-stack -p \(process)"
        }
    }
}

extension PeerEnd.Program {
    /// The command that prints its thread stacks.
    package var stackCommand: String {
        StackCommand.text(StackCommand.Runtime(executable: name), process: process)
    }
}

extension HostProcess {
    /// Returns the command that prints its thread stacks. `thread` is the relevant one.
    package func stackCommand(thread: Int32?) -> String {
        let runtime = StackCommand.Runtime(executable: executable ?? command, isGo: isGo)
        let (process, thread) = (HostOrdinal.kernelProcess(id.number), thread.map(HostOrdinal.kernelProcess))
        return StackCommand.text(runtime, process: Int(process), thread: thread.map { Int($0) })
    }
}
