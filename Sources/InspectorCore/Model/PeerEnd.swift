import SocketCore

/// The other end of a connection, where it is on this host.
package struct PeerEnd: Hashable, Sendable {
    /// The program that has it open; nil: the kernel does not say.
    package var program: Program?
    /// Bytes that it has not read; nil: the kernel does not say.
    package var unread: Int?

    /// Who has a socket open, and as what.
    package struct Program: Hashable, Sendable {
        package var process: Int
        package var name: String
        package var descriptor: Int32

        package init(process: Int, name: String, descriptor: Int32) {
            self.process = process
            self.name = name
            self.descriptor = descriptor
        }

        /// `python3[20845]`. Not sanitized yet.
        package var title: String { "\(name)[\(process)]" }
    }

    package init(program: Program? = nil, unread: Int? = nil) {
        self.program = program
        self.unread = unread
    }
}
