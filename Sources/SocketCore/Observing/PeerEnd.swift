/// The other end of a connection, where it is on this host.
package struct PeerEnd: Hashable, Sendable, Codable {
    /// The program that has it open; nil: the kernel does not say.
    package var program: Program?
    /// Bytes that it has not read; nil: the kernel does not say.
    package var unread: Int?
    /// What it has written and this end has not acknowledged, in bytes (a Unix-domain socket: in memory); nil: the kernel
    /// does not say.
    package var unsent: Int?
    /// Whether this end has sent FIN and that program has not closed (CLOSE-WAIT).
    package var isClosing: Bool
    /// Whether that program has read the FIN; `nil`: the kernel does not say.
    package var hasReadEnd: Bool?

    /// Of a listener, those whose connections wait to be accepted, as far as they can be seen.
    package var waiting: [Waiting] = []

    /// A connection that waits to be accepted.
    package struct Waiting: Hashable, Sendable, Codable {
        /// Where it comes from.
        package var peer: String
        /// The program there, where it is on this host.
        package var program: Program?

        package init(peer: String, program: Program? = nil) {
            self.peer = peer
            self.program = program
        }

        /// `127.0.0.1:47256  curl[24697]`. Not sanitized yet.
        package var words: String { peer + (program.map { "  \($0.title)" } ?? "") }
    }

    /// Who has a socket open, and as what.
    package struct Program: Hashable, Sendable, Codable {
        package var process: Int
        package var name: String
        package var descriptor: Int32
        /// Whether a signal or a debugger has stopped it.
        package var isStopped = false

        package init(process: Int, name: String, descriptor: Int32) {
            self.process = process
            self.name = name
            self.descriptor = descriptor
        }

        /// `python3[20845]`. Not sanitized yet.
        package var title: String { "\(name)[\(process)]" }
    }

    package init(
        program: Program? = nil, unread: Int? = nil, unsent: Int? = nil, isClosing: Bool = false,
        hasReadEnd: Bool? = nil, waiting: [Waiting] = []
    ) {
        (self.program, self.unread, self.unsent) = (program, unread, unsent)
        (self.isClosing, self.hasReadEnd) = (isClosing, hasReadEnd)
        self.waiting = waiting
    }
}
