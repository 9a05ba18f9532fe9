import SocketCore

/// The pace of a transmission: at once or in pieces, and once or repeatedly.
package struct Pace: Equatable, Sendable {
    /// The size of a piece in bytes, and the pause between pieces.
    package struct Dribble: Equatable, Sendable {
        package var bytes: Int
        package var interval: Duration

        package init(bytes: Int, interval: Duration) {
            self.bytes = bytes
            self.interval = interval
        }
    }

    package var dribble: Dribble?
    /// The time from one repetition to the next, or `nil` to send once.
    package var interval: Duration?
    /// The time limit of a write, or `nil` for none.
    package var timeout: Duration?

    package init() {}

    /// `3 B every 100ms, again every 5s`, or `nil` for at once and once.
    package var words: String? {
        var words: [String] = []
        if let dribble { words.append("\(dribble.bytes) B every \(Format.duration(dribble.interval))") }
        if let interval { words.append("again every \(Format.duration(interval))") }
        if let timeout { words.append("timeout \(Format.duration(timeout))") }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}

/// Data that takes more than one write to send, or more than the reducer knows: macros, files, paces.
package struct Transmission: Equatable, Sendable {
    package enum Source: Equatable, Sendable {
        case message([MessagePiece], sequence: Int)
        /// The path of a file, which is sent piece by piece.
        case file(String)
    }

    package var socket: SocketID
    package var source: Source
    package var tag: Int
    package var pace: Pace
    /// Whether it is sent as WebSocket messages. Hex and files are binary messages.
    package var isMessages = false
    package var isBinary = false

    package init(_ socket: SocketID, _ source: Source, tag: Int, pace: Pace = Pace()) {
        self.socket = socket
        self.source = source
        self.tag = tag
        self.pace = pace
    }

    /// Whether it may take long enough that the user wants to see its progress.
    package var isLong: Bool {
        if case .file = source { return true }
        return pace.dribble != nil || pace.interval != nil
    }
}

/// The progress of a transmission.
package struct TransmissionProgress: Equatable, Sendable {
    package var transmission: Transmission
    /// The number of completed rounds.
    package var rounds = 0
    /// The bytes of the current round that the kernel has accepted.
    package var done = 0
    /// The size of the current round in bytes, or `nil` if it is not known yet.
    package var total: Int?
    /// When it was requested. Set by the model.
    package var began: MonotonicTime?

    package init(_ transmission: Transmission) {
        self.transmission = transmission
    }

    /// The file's name, or words for a message.
    package var name: String {
        switch transmission.source {
        case .message: "a message"
        case .file(let path): String(path.split(separator: "/").last ?? "")
        }
    }

    /// Returns the file being sent on a connection, the bytes that the kernel has accepted, and its size. Returns `nil`
    /// while another write is the current one.
    package func file(on socket: SocketSnapshot) -> (name: String, done: Int, total: Int)? {
        guard case .file = transmission.source, let total, let current = socket.writing.current,
            current.tag == transmission.tag
        else { return nil }
        let (sum, isTooMuch) = done.addingReportingOverflow(current.done)
        return (name, isTooMuch ? total : min(total, sum), total)
    }

    /// `sent big.bin: 191M in 9s`, `stopped sending big.bin after 31s: 30M of 191M, 15%`
    package func summary(_ ending: TransmissionEnding, after time: Duration) -> String {
        let time = Format.duration(max(.zero, time))
        if case .done = ending { return "sent \(name): \(Format.size(done)) in \(time)" }
        let amount = words.drop { $0 != ":" }
        return "stopped sending \(name) after \(time)\(amount)"
    }

    /// `sending big.bin: 3.1M of 12M, 25%`
    package var words: String { words(underWay: 0) }

    /// Returns the same, including bytes of the current piece, which `done` does not include yet.
    package func words(underWay: Int) -> String {
        let sum = done.addingReportingOverflow(underWay)
        let done = sum.overflow ? done : total.map { min($0, sum.partialValue) } ?? sum.partialValue
        var text = "sending \(name): \(Format.size(done))"
        if let total { text += " of \(Format.size(total))" }
        if let total, total > 0 { text += ", \(Format.percent(done: done, total: total))" }
        if transmission.pace.interval != nil { text += "; sent \(Format.count(rounds, "time"))" }
        return text
    }
}

/// How a transmission ended.
package enum TransmissionEnding: Equatable, Sendable {
    case done
    /// It was stopped by the user.
    case stopped
    /// It failed. The value is the reason, as a sentence.
    case failed(String)
}

/// The facts about the path in a composer.
package struct FileFacts: Equatable, Sendable {
    package var path: String
    /// The size in bytes, or `nil` if the file can't be sent.
    package var size: Int?
    /// The reason if it can't be sent.
    package var problem: String

    package init(path: String, size: Int?, problem: String = "") {
        self.path = path
        self.size = size
        self.problem = problem
    }
}
