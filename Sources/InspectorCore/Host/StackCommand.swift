import SocketCore

/// The command that prints where a program's threads are, by what runs the program.
package enum StackCommand {
    /// What runs a program.
    package enum Runtime: Hashable, Sendable {
        case python, java, node, go, native

        /// Reads the base name of an executable, or the program's name where that is not known.
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

    /// The command, with the thread to look for where the runtime numbers threads in its own way.
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
    /// The command that prints where its threads are.
    package var stackCommand: String {
        StackCommand.text(StackCommand.Runtime(executable: name), process: process)
    }
}

extension HostProcess {
    /// The command that prints where its threads are; `thread`: the one that matters.
    package func stackCommand(thread: Int32?) -> String {
        let runtime = StackCommand.Runtime(executable: executable ?? command, isGo: isGo)
        return StackCommand.text(runtime, process: Int(id.number), thread: thread.map { Int($0) })
    }
}
