import SocketCore

/// How what is sent goes out: at once, or little by little; once, or again and again.
package struct Pace: Hashable, Sendable {
    /// So many bytes at a time, and so long between them.
    package struct Dribble: Hashable, Sendable {
        package var bytes: Int
        package var interval: Duration

        package init(bytes: Int, interval: Duration) {
            self.bytes = bytes
            self.interval = interval
        }
    }

    package var dribble: Dribble?
    /// How long after one sending the next begins; nil: it is sent once.
    package var interval: Duration?
    /// How long a write may take; nil: for ever.
    package var timeout: Duration?

    package init() {}

    /// `3 B every 100ms, again every 5s`; nil: at once and once.
    package var words: String? {
        var words: [String] = []
        if let dribble { words.append("\(dribble.bytes) B every \(Format.duration(dribble.interval))") }
        if let interval { words.append("again every \(Format.duration(interval))") }
        if let timeout { words.append("timeout \(Format.duration(timeout))") }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}

/// Something to send that takes more than one write, or more than the reducer knows: macros, files, paces.
package struct Transmission: Hashable, Sendable {
    package enum Source: Hashable, Sendable {
        case message([MessagePiece], sequence: Int)
        /// The path of a file, sent piece by piece.
        case file(String)
    }

    package var socket: SocketID
    package var source: Source
    package var tag: Int
    package var pace: Pace
    /// Whether it is sent as messages of a WebSocket; hex and files are binary ones.
    package var isMessages = false
    package var isBinary = false

    package init(_ socket: SocketID, _ source: Source, tag: Int, pace: Pace = Pace()) {
        self.socket = socket
        self.source = source
        self.tag = tag
        self.pace = pace
    }

    /// Whether it may last, so that a person wants to see how far it is.
    package var isLong: Bool {
        if case .file = source { return true }
        return pace.dribble != nil || pace.interval != nil
    }
}

/// How far a transmission is.
package struct TransmissionProgress: Hashable, Sendable {
    package var transmission: Transmission
    /// Sendings that are complete.
    package var rounds = 0
    /// Bytes of the present one that the kernel has.
    package var done = 0
    /// Bytes of the present one in all; nil: not known yet.
    package var total: Int?
    /// When it was asked for; the model knows.
    package var began: MonotonicTime?

    package init(_ transmission: Transmission) {
        self.transmission = transmission
    }

    /// The file's name, or that it is a message.
    package var name: String {
        switch transmission.source {
        case .message: "a message"
        case .file(let path): String(path.split(separator: "/").last ?? "")
        }
    }

    /// The file that is being sent on a connection: how much of it the kernel has, and of how much.
    /// `nil` while another write is the current one.
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

    /// The same with bytes of the piece that is being written, which `done` does not count yet.
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
package enum TransmissionEnding: Hashable, Sendable {
    case done
    /// By hand.
    case stopped
    /// Why; a sentence.
    case failed(String)
}

/// What was found at the path in a composer.
package struct FileFacts: Hashable, Sendable {
    package var path: String
    /// Bytes; nil where it cannot be sent.
    package var size: Int?
    /// Why not.
    package var problem: String

    package init(path: String, size: Int?, problem: String = "") {
        self.path = path
        self.size = size
        self.problem = problem
    }
}
