/// The other end of a connection, if it is on this host.
package struct PeerEnd: Equatable, Sendable {
    /// The program that has it open, or `nil` if the kernel does not report it.
    package var program: Program?
    /// Bytes that it has not read, or `nil` if the kernel does not report them.
    package var unread: Int?
    /// Bytes it has written that this end has not acknowledged, or `nil` if the kernel does not report them. For a
    /// Unix-domain socket, the memory that they use.
    package var unsent: Int?
    /// Whether this end has sent FIN and the program has not closed (CLOSE-WAIT).
    package var isClosing: Bool
    /// Whether the program has read the FIN, or `nil` if the kernel does not report it.
    package var hasReadEnd: Bool?

    /// For a listener, the connections that wait to be accepted, if they can be seen.
    package var waiting: [Waiting] = []

    /// A connection that waits to be accepted.
    package struct Waiting: Equatable, Sendable {
        /// The address that it comes from.
        package var peer: String
        /// The program at that address, if it is on this host.
        package var program: Program?

        package init(peer: String, program: Program? = nil) {
            self.peer = peer
            self.program = program
        }

        /// `127.0.0.1:47256  curl[24697]`. Not sanitized yet.
        package var words: String { peer + (program.map { "  \($0.title)" } ?? "") }
    }

    /// A program that has a socket open, and its descriptor.
    package struct Program: Equatable, Sendable {
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
