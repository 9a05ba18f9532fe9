import InspectorCore
import SocketCore

/// The effects of commands with arguments.
extension Model {
    /// Runs a line. If it is invalid, only shows a notice.
    mutating func run(_ line: String) -> [Effect] {
        switch Instruction.parse(line) {
        case .failure(let failure):
            notice = error(failure.message)
            return []
        case .success(let instruction):
            return instruction.body?.run(&self, .enter) ?? perform(instruction.verb)
        }
    }

    /// Performs an action as its own key does here.
    private mutating func perform(_ name: String) -> [Effect] {
        let context = context
        guard let action = Action.named(name), let use = action.use(runIn: context) else {
            return refuse("\(name) is not available in \(context.title)")
        }
        return use.perform(&self, use.keys.first ?? .enter)
    }

    // MARK: On the selected connection

    mutating func read(_ request: ReadRequest, hasTag: Bool) -> [Effect] {
        onSelected { model, socket in
            guard socket.role != .listener else { return model.refuse("a listener does not read") }
            guard socket.ownWebSocket == nil else { return model.refuse(model.naming(Self.webSocketReads)) }
            var request = request
            if !hasTag { request.tag = model.composers.takeTag(of: socket.id) }
            return [.send(.read(socket.id, request))]
        }
    }

    mutating func write(_ bytes: [UInt8]) -> [Effect] {
        onSelected { model, selected in
            if let reason = model.whyNoSending { return model.refuse(reason) }
            let socket = model.recipient?.writesTo ?? selected
            model.tell(model.injection.map { ComposerState.injected(bytes, $0) })
            if socket.takesMessages {
                let message = WebSocketMessage(WebSocketMessage.type(of: bytes), bytes)
                return [.send(.webSocket(socket.id, .message(message)))]
            }
            return [.send(.write(socket.id, WriteRequest(bytes, tag: model.composers.takeTag(of: socket.id))))]
        }
    }

    mutating func close(_ closing: Instruction.Closing) -> [Effect] {
        switch closing {
        case .webSocket(let command): ask(command)
        case .stream(let mode):
            onSelected { model, socket in
                if mode == nil, socket.ownWebSocket != nil { return model.refuse(model.naming(Self.webSocketCloses)) }
                let action = mode.map { SocketCommand.Action.close($0) } ?? .halfClose
                if let reason = action.refusal(of: socket.id, socket.role) { return model.refuse(reason) }
                return [.send(SocketCommand(socket.id, action))]
            }
        }
    }

    /// Performs a command on one of our own WebSockets.
    mutating func ask(_ command: WebSocketCommand) -> [Effect] {
        onSelected { model, socket in
            guard socket.ownWebSocket != nil else {
                return model.refuse("\(socket.id) is not one of our WebSockets")
            }
            if let reason = TrafficWords.whyNoWriting(socket) { return model.refuse(reason) }
            return [.send(.webSocket(socket.id, command))]
        }
    }

    mutating func answer(_ verdict: TimeoutVerdict) -> [Effect] {
        onSelected { model, socket in
            guard let operation = socket.asking else { return model.refuse("nothing here awaits an answer") }
            return [.send(.answerTimeout(socket.id, operation.id, verdict))]
        }
    }

    private mutating func onSelected(_ act: (inout Model, SocketSnapshot) -> [Effect]) -> [Effect] {
        guard let selected, selected.isLive else {
            return refuse(list.selected == nil ? "nothing is selected" : "the selected connection is closed")
        }
        return act(&self, selected)
    }

    /// Moves the cursor to a connection.
    mutating func goTo(_ id: SocketID) -> [Effect] {
        guard let socket = shown?.socket(id) else { return refuse("there is no connection \(id)") }
        if list.row(of: id, in: shared) == nil, list.folded != nil, socket.host?.state == .timeWait {
            return refuse("\(id) is in TIME-WAIT, shown as one row: filter state:time-wait")
        }
        if list.row(of: id, in: shared) == nil, !list.filter.isEmpty || list.showsMarked {
            let why =
                list.filter.isEmpty ? "only marked ones are listed ({show-marked})" : "the filter hides it ({back})"
            return refuse(naming("\(id) is not listed: \(why)", in: .list))
        }
        select(id)
        if tab == .start { show(.list) }
        return []
    }

    static let webSocketReads = "a WebSocket reads automatically; {pause} pauses it"
    static let webSocketCloses = "a WebSocket is closed with Close: {close}, or :close 1000 bye"

    private mutating func refuse(_ sentence: String) -> [Effect] {
        notice = error(sentence)
        return []
    }
}
