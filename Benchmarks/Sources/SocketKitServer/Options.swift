/// Which of the yardstick's protocols is spoken.
enum Mode: String, CaseIterable {
    case echo, sink, source, lines
    /// `echo` by a delegate that is called for completed writes.
    case heard
    /// WebSocket messages are sent back; its way is a delegate on the engine's queue.
    case websocket
    /// The same, part by part and awaited: a message of any length takes up no memory.
    case websocketStream = "websocket-stream"
}

/// How the API is used.
enum Way: String, CaseIterable {
    /// A delegate on the engine's queue, one read at a time.
    case inline
    /// A delegate on a queue of its own.
    case queue
    /// `await`, one task for each connection.
    case async
    /// The same, the tasks running on the engine.
    case engine
    /// A standing read that lends its bytes.
    case borrowed
}

/// What the command line says.
struct Options {
    var mode = Mode.echo
    var way = Way.inline
    var port: UInt16 = 0
    var path: String?
    var isWatched = false
    /// How many engines share the port, each with a listener of its own.
    var engines = 1
    /// Threads that write to connections of their own all the time.
    var posters = 0
    /// Whether each connection of an echo moves to another engine now and then.
    var moves = false
    /// A certificate and its key: TLS on every connection.
    var certificate: String?
    var key: String?

    init(_ arguments: some Sequence<String>) throws(Refusal) {
        var arguments = arguments.makeIterator()
        while let argument = arguments.next() {
            switch argument {
            case "--watched": isWatched = true
            case "-m": mode = try Self.value(of: argument, arguments.next())
            case "-w": way = try Self.value(of: argument, arguments.next())
            case "-c": certificate = arguments.next()
            case "-k": key = arguments.next()
            case "-e":
                guard let text = arguments.next(), let number = Int(text), (1...64).contains(number) else {
                    throw Refusal(sentence: "-e: must be followed by a number of engines, 1 to 64")
                }
                engines = number
            case "--moving": moves = true
            case "-t":
                guard let text = arguments.next(), let number = Int(text), (1...64).contains(number) else {
                    throw Refusal(sentence: "-t: must be followed by a number of threads, 1 to 64")
                }
                posters = number
            case "-u": path = arguments.next()
            case "-p":
                guard let text = arguments.next(), let number = UInt16(text) else {
                    throw Refusal(sentence: "-p: must be followed by a port, 0 to 65535")
                }
                port = number
            default: throw Refusal(sentence: "\(argument): no such option")
            }
        }
    }

    private static func value<Value: RawRepresentable<String> & CaseIterable>(
        of option: String, _ text: String?
    ) throws(Refusal) -> Value {
        if let text, let value = Value(rawValue: text) { return value }
        let values = Value.allCases.map(\.rawValue).joined(separator: ", ")
        throw Refusal(sentence: "\(option): must be followed by one of \(values)")
    }

    /// Why the command line cannot be followed.
    struct Refusal: Error {
        var sentence: String
    }
}
