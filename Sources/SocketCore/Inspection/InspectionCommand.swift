/// A `SocketCommand` on the wire: a word, the session, and what the word needs.
struct InspectionCommand: WireMessage {
    private var word = ""
    private var socket = SocketID(0)
    private var kind: ReadRequest.Kind?
    private var timeout: Duration?
    private var tag = 0
    private var isStanding = false
    private var bytes: [UInt8] = []
    private var mode: CloseMode?
    private var isOn = false
    private var operation: OperationID?
    private var watermarks: Watermarks?
    private var destination: DatagramEndpoint?
    private var webSocket: WireWebSocketCommand?

    private init() {}
    static var blank: InspectionCommand { InspectionCommand() }

    init(_ command: SocketCommand) {
        socket = command.socket
        switch command {
        case .read(_, let request):
            word = "read"
            (kind, timeout, tag, isStanding) = (request.kind, request.timeout, request.tag, request.isStanding)
        case .write(_, let request):
            word = "write"
            (bytes, timeout, tag) = (request.bytes, request.timeout, request.tag)
        case .send(_, let request):
            word = "send"
            (bytes, destination, timeout, tag) = (request.bytes, request.destination, request.timeout, request.tag)
        case .close(_, let mode): (word, self.mode) = ("close", mode)
        case .halfClose: word = "halfClose"
        case .pauseReading(_, let pause): (word, isOn) = ("pauseReading", pause)
        case .answerTimeout(_, let operation, let verdict):
            self.operation = operation
            switch verdict {
            case .extend(let time): (word, timeout) = ("extend", time)
            case .failOperation: word = "failOperation"
            case .close: word = "closeTimedOut"
            case .later: word = "later"
            }
        case .cancel(_, let target):
            switch target {
            case .operation(let operation): (word, self.operation) = ("cancel", operation)
            case .reads: word = "cancelReads"
            case .writes: word = "cancelWrites"
            }
        case .answerTrust(_, let question, let verdict):
            operation = question
            switch verdict {
            case .accept: word = "acceptTrust"
            case .refuse: word = "refuseTrust"
            case .later: word = "answerTrustLater"
            case .nobody: word = "nobodyJudgesTrust"
            }
        case .setTimeout(_, let operation, let timeout):
            (word, self.operation, self.timeout) = ("setTimeout", operation, timeout)
        case .setWatermarks(_, let marks): (word, watermarks) = ("setWatermarks", marks)
        case .answerConnection(_, let verdict): word = verdict == .take ? "takeConnection" : "refuseConnection"
        case .webSocket(_, let command): webSocket = WireWebSocketCommand(command)
        }
    }

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

    /// What it asks for. Nothing is checked that the engine checks itself.
    func command() throws(WireError) -> SocketCommand {
        let named = operation ?? OperationID(0)
        if let webSocket { return .webSocket(socket, try webSocket.command()) }
        switch word {
        case "read":
            guard let kind else { throw .unknown }
            return .read(socket, ReadRequest(kind, timeout: timeout, tag: tag, isStanding: isStanding))
        case "write": return .write(socket, WriteRequest(bytes, timeout: timeout, tag: tag))
        case "send": return .send(socket, DatagramRequest(bytes, to: destination, timeout: timeout, tag: tag))
        case "close":
            guard let mode else { throw .unknown }
            return .close(socket, mode)
        case "halfClose": return .halfClose(socket)
        case "pauseReading": return .pauseReading(socket, isOn)
        case "extend": return .answerTimeout(socket, named, .extend(by: timeout ?? .zero))
        case "failOperation": return .answerTimeout(socket, named, .failOperation)
        case "closeTimedOut": return .answerTimeout(socket, named, .close)
        case "later": return .answerTimeout(socket, named, .later)
        case "cancel": return .cancel(socket, .operation(named))
        case "cancelReads": return .cancel(socket, .reads)
        case "cancelWrites": return .cancel(socket, .writes)
        case "acceptTrust": return .answerTrust(socket, named, .accept)
        case "refuseTrust": return .answerTrust(socket, named, .refuse)
        case "answerTrustLater": return .answerTrust(socket, named, .later)
        case "nobodyJudgesTrust": return .answerTrust(socket, named, .nobody)
        case "setTimeout": return .setTimeout(socket, named, timeout)
        case "setWatermarks": return .setWatermarks(socket, watermarks)
        case "takeConnection": return .answerConnection(socket, .take)
        case "refuseConnection": return .answerConnection(socket, .refuse)
        default: throw .unknown
        }
    }
}
