import InspectorCore
import SocketKit
import Testing

@testable import SockTUI

/// What of a run's connections counts as a failure, and how it is told.
@Suite("A connection that ended badly")
struct FailureTests {
    private typealias Report = WebSocketCloseReport

    private static func socket(
        _ role: SocketRole = .client, _ reason: SocketError.Reason? = .closedByPeer
    ) -> SocketSnapshot {
        var socket = SocketSnapshot(
            id: SocketID(1), role: role, phase: .closed, target: "127.0.0.1:80", opened: .zero)
        let error = reason.map { SocketError($0, operation: "read", detail: "127.0.0.1:80: why") }
        socket.closed = CloseRecord(time: .zero, error: error)
        return socket
    }

    private static func webSocket(
        _ failure: WebSocketFailure?, received: WebSocketCloseCode? = nil, _ origin: Report.Origin = .peer,
        _ reason: SocketError.Reason? = .closedByPeer
    ) -> SocketSnapshot {
        var socket = socket(.client, reason)
        var facts = WebSocketPicture(role: .client, stage: .closed, target: "/")
        let sent = failure.flatMap { $0 == .endedWithoutClose ? nil : WebSocketCloseFrame(code: $0.closeCode) }
        facts.report = Report(
            sent: sent, received: received.map { WebSocketCloseFrame(code: $0) }, failure: failure, origin: origin,
            wasClean: false, unsentBytes: 0, began: .zero, ended: .zero)
        socket.webSocket = facts
        return socket
    }

    private func failures(_ socket: SocketSnapshot, partner: SocketID? = nil) -> [String] {
        var snapshot = EngineSnapshot(engine: "us", time: .zero, wallNanoseconds: 0)
        snapshot.sockets = [socket]
        return snapshot.failures(of: partner)
    }

    @Test("a WebSocket fails if its peer breaks the protocol, leaves without a Close or reports a problem")
    func webSockets() {
        let bad: [(SocketSnapshot, String)] = [
            (Self.webSocket(.endedWithoutClose), "peer closed its side (FIN), without a Close (1006)"),
            (Self.webSocket(.endedWithoutClose, .peer, .system(errno: 104)), "why, without a Close (1006)"),
            (Self.webSocket(.maskedFrame), "we closed with 1002"), (Self.webSocket(.invalidUTF8(offset: 2)), "1007"),
            (Self.webSocket(nil, received: .internalError), "the peer closed with 1011"),
            (Self.webSocket(.endedWithoutClose, .local), "without a Close (1006)"),
        ]
        for (socket, words) in bad {
            let told = failures(socket)
            #expect(told.count == 1 && told[0].hasPrefix("WebSocket: 127.0.0.1:80: "), "\(told)")
            #expect(told.first?.contains(words) == true, "\(words): \(told)")
        }
    }

    @Test("it does not if it was closed in order, or by us")
    func orderly() {
        let good = [
            Self.webSocket(nil, received: .normal), Self.webSocket(nil, received: .goingAway),
            Self.webSocket(nil, .local, nil), Self.webSocket(nil, received: .internalError, .local, nil), Self.socket(),
        ]
        for socket in good { #expect(failures(socket) == []) }
    }

    @Test("of accepted connections, only the one that carries standard input and output counts")
    func partner() {
        let reset = Self.socket(.accepted, .system(errno: 104))
        #expect(failures(reset) == [])
        #expect(failures(reset, partner: SocketID(2)) == [])
        #expect(failures(reset, partner: reset.id).count == 1)
        #expect(failures(Self.socket(.accepted), partner: SocketID(1)) == [])
    }
}
