import SocketCore

/// A `SocketCommand` on the wire: a word, the session, and the word's arguments. The row of an action, and its
/// decoding, are in this file and nowhere else.
struct InspectionCommand: WireMessage {
    fileprivate var word = ""
    fileprivate var socket = SocketID(0)
    fileprivate var kind: ReadRequest.Kind?
    fileprivate var timeout: Duration?
    fileprivate var tag = 0
    fileprivate var isStanding = false
    fileprivate var bytes: [UInt8] = []
    fileprivate var mode: CloseMode?
    fileprivate var isOn = false
    fileprivate var operation: OperationID?
    fileprivate var watermarks: Watermarks?
    fileprivate var destination: Endpoint?
    fileprivate var webSocket: WireWebSocketCommand?

    private init() {}
    static var blank: InspectionCommand { InspectionCommand() }

    init(_ command: SocketCommand) {
        self = command.action.row.form
        socket = command.socket
    }

    fileprivate init(_ word: String) { self.word = word }

    mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &word)
        try coder.field(2, &socket)
        try coder.field(3, &kind)
        try coder.field(4, &timeout)
        try coder.exactField(5, &tag)
        try coder.field(6, &isStanding)
        try coder.field(7, &bytes)
        try coder.field(8, &mode)
        try coder.field(9, &isOn)
        try coder.field(10, &operation)
        try coder.field(11, &watermarks)
        try coder.field(12, &destination)
        try coder.field(13, &webSocket)
    }

    /// Returns the command. Checks nothing that the engine checks itself.
    func command() throws(WireError) -> SocketCommand { SocketCommand(socket, try action()) }

    private func action() throws(WireError) -> SocketCommand.Action {
        let named = operation ?? OperationID(0)
        if let webSocket { return .webSocket(try webSocket.command()) }
        switch word {
        case "read":
            guard let kind else { throw .unknown }
            return .read(ReadRequest(kind, timeout: timeout, tag: tag, isStanding: isStanding))
        case "write": return .write(WriteRequest(bytes, timeout: timeout, tag: tag))
        case "send": return .send(DatagramRequest(bytes, to: destination, timeout: timeout, tag: tag))
        case "close":
            guard let mode else { throw .unknown }
            return .close(mode)
        case "halfClose": return .halfClose
        case "pauseReading": return .pauseReading(isOn)
        case "extend": return .answerTimeout(named, .extend(by: timeout ?? .zero))
        case "failOperation": return .answerTimeout(named, .failOperation)
        case "closeTimedOut": return .answerTimeout(named, .close)
        case "later": return .answerTimeout(named, .later)
        case "cancel": return .cancel(.operation(named))
        case "cancelReads": return .cancel(.reads)
        case "cancelWrites": return .cancel(.writes)
        case "acceptTrust": return .answerTrust(named, .accept)
        case "refuseTrust": return .answerTrust(named, .refuse)
        case "answerTrustLater": return .answerTrust(named, .later)
        case "nobodyJudgesTrust": return .answerTrust(named, .unhandled)
        case "setTimeout": return .setTimeout(named, timeout)
        case "setWatermarks": return .setWatermarks(watermarks)
        case "takeConnection": return .answerConnection(.accept)
        case "refuseConnection": return .answerConnection(.refuse)
        default: throw .unknown
        }
    }
}

/// What the engine, the wire and the screen need to know about an action.
package struct ActionRow {
    /// Its word on the wire.
    package var word: String { form.word }
    /// The roles that accept it. It has no effect on other sockets.
    package let takers: [SocketRole]
    /// The action as fields, without the session.
    fileprivate let form: InspectionCommand

    fileprivate init(
        _ word: String, for takers: [SocketRole] = ActionRow.streams, fill: (inout InspectionCommand) -> Void = { _ in }
    ) {
        var form = InspectionCommand(word)
        fill(&form)
        self.form = form
        self.takers = takers
    }

    fileprivate static let streams: [SocketRole] = [.client, .accepted]
}

extension SocketCommand.Action {
    /// The action's row in the table of actions.
    package var row: ActionRow {
        let queues = ActionRow.streams + [.datagram]
        return switch self {
        case .read(let request):
            ActionRow("read", for: queues) {
                ($0.kind, $0.timeout, $0.tag) = (request.kind, request.timeout, request.tag)
                $0.isStanding = request.isStanding
            }
        case .write(let request):
            ActionRow("write", for: queues) {
                ($0.bytes, $0.timeout, $0.tag) = (request.bytes, request.timeout, request.tag)
            }
        case .send(let request):
            ActionRow("send", for: [.datagram]) {
                ($0.bytes, $0.timeout, $0.tag) = (request.bytes, request.timeout, request.tag)
                $0.destination = request.destination
            }
        case .close(let mode): ActionRow("close", for: SocketRole.allCases) { $0.mode = mode }
        case .halfClose: ActionRow("halfClose")
        case .pauseReading(let pause): ActionRow("pauseReading", for: SocketRole.allCases) { $0.isOn = pause }
        case .answerTimeout(let operation, .extend(let time)):
            ActionRow("extend") { ($0.operation, $0.timeout) = (operation, time) }
        case .answerTimeout(let operation, .failOperation): ActionRow("failOperation") { $0.operation = operation }
        case .answerTimeout(let operation, .close): ActionRow("closeTimedOut") { $0.operation = operation }
        case .answerTimeout(let operation, .later): ActionRow("later") { $0.operation = operation }
        case .cancel(.operation(let operation)): ActionRow("cancel", for: queues) { $0.operation = operation }
        case .cancel(.reads): ActionRow("cancelReads", for: queues)
        case .cancel(.writes): ActionRow("cancelWrites", for: queues)
        case .answerTrust(let question, .accept): ActionRow("acceptTrust") { $0.operation = question }
        case .answerTrust(let question, .refuse): ActionRow("refuseTrust") { $0.operation = question }
        case .answerTrust(let question, .later): ActionRow("answerTrustLater") { $0.operation = question }
        case .answerTrust(let question, .unhandled): ActionRow("nobodyJudgesTrust") { $0.operation = question }
        case .setTimeout(let operation, let time):
            ActionRow("setTimeout") { ($0.operation, $0.timeout) = (operation, time) }
        case .setWatermarks(let marks): ActionRow("setWatermarks") { $0.watermarks = marks }
        case .answerConnection(.accept): ActionRow("takeConnection", for: [.listener])
        case .answerConnection(.refuse): ActionRow("refuseConnection", for: [.listener])
        case .webSocket(let command): ActionRow("") { $0.webSocket = WireWebSocketCommand(command) }
        }
    }

    /// Returns why a socket in this role can't do this, as a sentence, or `nil` if it can.
    package func refusal(of id: SocketID, _ role: SocketRole) -> String? {
        let row = row
        guard !row.takers.contains(role) else { return nil }
        let word = row.word.isEmpty ? "webSocket" : row.word
        let kind = role == .listener ? "listener" : role == .datagram ? "datagram socket" : "connection"
        return "\(id) is a \(kind): \(word) does not apply to it"
    }
}
