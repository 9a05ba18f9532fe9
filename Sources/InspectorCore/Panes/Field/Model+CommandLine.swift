import SocketCore

extension Model {
    /// Does what a line asks for; a line that means nothing is said so, and nothing is done.
    mutating func run(_ line: String) -> [Effect] {
        switch Instruction.parse(line) {
        case .failure(let failure):
            notice = error(failure.message)
            return []
        case .success(let instruction): return perform(instruction)
        }
    }

    private mutating func perform(_ instruction: Instruction) -> [Effect] {
        switch instruction {
        case .press(let name): return perform(name)
        case .connect(let request): return [.connect(request)]
        case .listen(let request): return [.listen(request)]
        case .relay(let request): return [.relay(request)]
        case .read, .send, .close, .answer, .webSocket: return act(instruction)
        case .control(let isShown): hidesControlFrames = !isShown
        case .filter(let filter): tab == .events ? setEventFilter(filter) : setFilter(filter)
        case .search(let text):
            if tab != .events { show(.events) }
            events.search = text
            searchEvents(-1)
        case .sort(let sorting): sort(sorting)
        case .select(let id):
            guard shown?.socket(id) != nil else {
                notice = error("\(id) is not listed")
                return []
            }
            select(id)
            if tab == .start { show(.list) }
        case .view(let mode): viewMode = mode
        case .help(let word): help = HelpState(context: context, filter: word)
        case .mouse(let isOn): return [.mouse(isOn)]
        }
        return []
    }

    /// What is done to the selected connection.
    private mutating func act(_ instruction: Instruction) -> [Effect] {
        guard let selected, selected.isLive else {
            notice = error(list.selected == nil ? "nothing is selected" : "the selected connection is closed")
            return []
        }
        let id = selected.id
        switch instruction {
        case .close(nil) where selected.ownWebSocket != nil: return refuse(naming(Self.webSocketCloses))
        case .close(let mode): return [.send(mode.map { .close(id, $0) } ?? .halfClose(id))]
        case .read(var request, let hasTag):
            guard selected.role != .listener else { return refuse("a listener reads nothing") }
            guard selected.ownWebSocket == nil else { return refuse(naming(Self.webSocketReads)) }
            if !hasTag { request.tag = takeTag(of: id) }
            return [.send(.read(id, request))]
        case .send(let bytes):
            if let reason = TalkWords.whyNoWriting(selected) { return refuse(reason) }
            if selected.ownWebSocket != nil {
                return [.send(.webSocket(id, .message(WebSocketMessage(WebSocketMessage.type(of: bytes), bytes))))]
            }
            return [.send(.write(id, WriteRequest(bytes, tag: takeTag(of: id))))]
        case .webSocket(let command):
            guard selected.ownWebSocket != nil else { return refuse("\(id) is not one of our WebSockets") }
            if let reason = TalkWords.whyNoWriting(selected) { return refuse(reason) }
            return [.send(.webSocket(id, command))]
        case .answer(let verdict):
            guard let operation = selected.asking else { return refuse("nothing waits for an answer here") }
            return [.send(.answerTimeout(id, operation.id, verdict))]
        default: return []
        }
    }

    static let webSocketReads = "a WebSocket reads automatically; {pause} pauses it"
    static let webSocketCloses = "a WebSocket ends with Close: {close}, or :close 1000 bye"

    private mutating func refuse(_ sentence: String) -> [Effect] {
        notice = error(sentence)
        return []
    }

    private mutating func takeTag(of id: SocketID) -> Int {
        var composer = composers[id] ?? Composer()
        defer { composers[id] = composer }
        composer.nextTag += 1
        return composer.nextTag - 1
    }

    /// Does what an action's own key does here.
    private mutating func perform(_ name: String) -> [Effect] {
        let context = context
        guard let action = Action.named(name), let use = use(of: action, in: context) else {
            return refuse("\(name) means nothing here (\(context.title))")
        }
        return use.perform(&self, use.keys.first ?? .enter)
    }

    /// The command line opens above the footer, wherever the cursor is.
    mutating func openCommandLine() {
        field = OpenField(purpose: .command, editor: LineEditor(), before: "")
        field?.editor.remember(commandHistory)
    }

    /// Ends the command line and does what it says, or what the row of the palette says. A line that means nothing stays
    /// to be corrected.
    mutating func acceptCommandLine() -> [Effect] {
        let accepted = palette?.accepted
        if let accepted, accepted.needsMore {
            typeInField { $0.set(accepted.line) }
            return []
        }
        guard let line = accepted?.line ?? field?.editor.text, line.contains(where: { $0 != " " }) else {
            field = nil
            return []
        }
        if case .failure(let failure) = Instruction.parse(line) {
            field?.error = failure.message
            return []
        }
        field = nil
        commandHistory.removeAll { $0 == line }
        commandHistory = (commandHistory + [line]).suffix(LineEditor.historyLimit)
        return run(line)
    }
}
