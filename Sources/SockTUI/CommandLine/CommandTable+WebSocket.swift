import InspectorCore
import SocketCore

extension CommandTable {
    private static let all: Set<String> = ["connect", "listen"]

    /// The options for addresses that start with `ws://` or `wss://`.
    static let webSocketOptions: [Option] = [
        Option(name: "--subprotocol", value: .text("LIST"), commands: all, help: "ws: subprotocols to offer or accept")
        {
            (list, request) throws(UsageError) in
            request.webSocket.subprotocols += list.split(separator: ",").map { word in
                String(word.filter { !$0.isWhitespace })
            }
        },
        Option(name: "--header", value: .text("FIELD"), commands: ["connect"], help: "ws: 'Name: value' in the request")
        {
            (text, request) throws(UsageError) in
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw UsageError("--header", "\(text) is not a field; write 'Name: value'")
            }
            let value = parts[1].drop { $0 == " " }
            request.webSocket.fields.append(HTTPField(String(parts[0]), String(value)))
        },
        Option(name: "--no-compression", commands: all, help: "ws: disable compression") {
            (_, request) throws(UsageError) in request.webSocket.compresses = false
        },
    ]
}

extension CommandTable.Request {
    /// Rejects options that have no meaning for the target, instead of ignoring them.
    func checkWebSocket(_ target: OpenTarget, _ text: String) throws(EndpointError) {
        guard case .webSocket = target else {
            if webSocket.isEmpty { return }
            throw EndpointError(
                text: text, problem: "--subprotocol, --header and --no-compression work only with ws:// and wss://")
        }
        let refused = [
            (!standingRead, "--no-read", "reads automatically"), (allowsHalfOpen, "--half-open", "ends with Close"),
            (holdsConnections, "--hold", "accepts all"), (!replies.isEmpty, "--reply", "has no reply rules"),
        ]
        guard let (_, option, why) = refused.first(where: \.0) else { return }
        throw EndpointError(text: text, problem: "\(option) cannot be used with a WebSocket, which \(why)")
    }
}
