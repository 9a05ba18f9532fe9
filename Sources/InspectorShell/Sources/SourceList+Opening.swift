import InspectorCore
import SocketKit

/// Opening and operating sockets on the program's own source.
extension SourceList {
    /// What is called with the name of what was opened, or the error.
    package typealias Opened = @Sendable (Result<SocketID, SocketError>) -> Void
    /// What is called with the error, or with `nil`.
    package typealias Done = @Sendable (SocketError?) -> Void

    /// Returns the program's own source. Throws if the socket is not its own.
    package func opener(of id: SocketID) throws(SocketError) -> any OpeningSource {
        if let own = present, own.ordinal == id.ordinal { return own.source }
        throw SocketError(.other, operation: "write", detail: "\(id): a socket of another program")
    }

    /// Opens something on the program's own source. Answers with its name on the screen.
    package func open(_ open: (any OpeningSource, @escaping Opened) -> Void, then: @escaping Opened) {
        let own = own
        open(own.source) { result in then(result.map { SocketID($0.number, of: own.ordinal) }) }
    }

    /// Operates a socket of the program's own source.
    package func own(
        _ id: SocketID, _ act: (any OpeningSource, SocketID, @escaping Done) -> Void, then: @escaping Done
    ) {
        do throws(SocketError) { act(try opener(of: id), id.own, then) } catch { then(error) }
    }
}
