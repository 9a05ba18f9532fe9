import InspectorCore
import SocketKit

/// Opening and operating sockets on the program's own source.
extension SourceList {
    /// Returns the program's own source. Throws if the socket is not its own.
    package func opener(of id: SocketID) throws(SocketError) -> any OpeningSource {
        if let own = present, own.ordinal == id.ordinal { return own.source }
        throw SocketError(.other, operation: "write", detail: "\(id): that is a socket of another program")
    }

    package func setReplies(_ id: SocketID, _ rules: [ReplyRule], then: @escaping @Sendable (SocketError?) -> Void) {
        do throws(SocketError) { try opener(of: id).setReplies(id.own, rules, then: then) } catch { then(error) }
    }

    package func startTLS(_ id: SocketID, _ settings: TLSSettings, then: @escaping @Sendable (SocketError?) -> Void) {
        do throws(SocketError) { try opener(of: id).startTLS(id.own, settings, then: then) } catch { then(error) }
    }

    package func connect(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {
        let own = own
        own.source.connect(request, then: Self.named(own.ordinal, then))
    }

    package func listen(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {
        let own = own
        own.source.listen(request, then: Self.named(own.ordinal, then))
    }

    package func relay(_ request: RelayRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {
        let own = own
        own.source.relay(request, then: Self.named(own.ordinal, then))
    }

    package func startDemo(then: @escaping @Sendable (SocketError?) -> Void) { own.source.startDemo(then: then) }

    /// Maps what the engine opened to its name on the screen.
    private static func named(
        _ ordinal: Int, _ then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void
    ) -> @Sendable (Result<SocketID, SocketError>) -> Void {
        { @Sendable result in then(result.map { SocketID($0.number, of: ordinal) }) }
    }
}
