import SocketCore

/// What ends a line that is sent.
package enum LineEnding: String, Hashable, Sendable, CaseIterable {
    case crlf = "CRLF"
    case lf = "LF"
    case none = "nothing"

    /// The word in templates: `crlf`, `lf`, `none`.
    package var word: String { "\(self)" }

    package var bytes: [UInt8] {
        switch self {
        case .crlf: [0x0D, 0x0A]
        case .lf: [0x0A]
        case .none: []
        }
    }

    package var next: LineEnding {
        switch self {
        case .crlf: .lf
        case .lf: .none
        case .none: .crlf
        }
    }
}

/// The line that is being written to one connection, and how it is read.
package struct Composer: Hashable, Sendable {
    /// How the line becomes bytes.
    package enum Mode: String, Hashable, Sendable, CaseIterable {
        /// As it stands.
        case text
        /// Escapes, and macros.
        case escapes
        /// Hex digits; nothing is added to them.
        case hex
        /// A path; the file's bytes are sent, and nothing is added to them.
        case file

        package var next: Mode {
            switch self {
            case .text: .escapes
            case .escapes: .hex
            case .hex: .file
            case .file: .text
            }
        }
    }

    package var editor = LineEditor() { didSet { summarize() } }
    package var mode = Mode.text { didSet { summarize() } }
    /// What was chosen to end a line; see `endingInForce`.
    package var ending = LineEnding.crlf { didSet { summarize() } }
    /// The tag that the next read or write gets, unless another is asked for.
    package var nextTag = 1
    /// Which message of this connection the next one is, from 1.
    package var sequence = 1 { didSet { summarize() } }
    /// How what is sent goes out.
    package var pace = Pace()
    /// Whether each line is one message of a WebSocket, which nothing ends.
    package var sendsMessages = false { didSet { summarize() } }
    /// Where datagrams go; nil: to the connected peer, and for streams.
    package var destination: Endpoint?

    /// Whether what is injected into a relayed pair goes to the client, and not to the server.
    package var injectsToClient = false
    /// The search in the history that is under way.
    package var search: HistorySearch?

    /// What is read after the line, as its template has it; nil: nothing is queued.
    package var readAfter: ReadRequest.Kind?
    /// How lines in the history were read.
    private var origins: [String: SentLine] = [:]
    /// What the line comes to; `nil` in the modes that parse nothing. Parsing takes time with the length of the line, so
    /// it is done once for each change, and not for each drawing.
    package private(set) var summary: Result<LineSummary, EscapedText.Failure>?
    private var summarized: LineSummary.Source?
    /// How often the line was parsed for its summary.
    package private(set) var parses = 0

    package init() {}

    private mutating func summarize() {
        guard mode == .escapes || mode == .hex else {
            if summarized != nil { (summary, summarized) = (nil, nil) }
            return
        }
        let source = LineSummary.Source(self)
        guard source != summarized else { return }
        summarized = source
        parses += 1
        summary = message.map { LineSummary($0, of: self) }
    }

    /// Takes over lines that were sent before, oldest first.
    package mutating func remember(_ lines: [SentLine]) {
        editor.remember(lines.map(\.text))
        for line in lines { origins[line.text] = line }
        if let last = lines.last { (mode, ending) = (last.mode, last.ending) }
    }

    /// Takes over what another composer has sent, and how.
    package mutating func inherit(_ other: Composer) {
        editor.remember(other.editor.history)
        (origins, mode, ending) = (other.origins, other.mode, other.ending)
    }

    /// A line of the history is in the field: it is read as it was then. Its ending stays what is chosen now.
    package mutating func recalled() {
        mode = origins[editor.text]?.mode ?? mode
    }

    /// The line as it is remembered.
    package var line: SentLine { SentLine(text: editor.text, mode: mode, ending: ending) }

    /// What is added to the line: nothing where its bytes are meant exactly.
    package var endingInForce: LineEnding {
        switch mode {
        case .text, .escapes: sendsMessages ? .none : ending
        case .hex, .file: .none
        }
    }

    /// The message of the line without its ending. Line feeds inside it become the chosen ending, or LF where that is
    /// nothing. Of a file mode line: none.
    package var body: Result<[MessagePiece], EscapedText.Failure> {
        switch mode {
        case .text: return .success(pieces { [.bytes(Array($0.utf8))] })
        case .hex: return HexText.parse(editor.text).map { $0.isEmpty ? [] : [.bytes($0)] }
        case .file: return .success([])
        case .escapes: break
        }
        var column = 0
        var read: [[MessagePiece]] = []
        for part in lines {
            switch MessageText.parse(String(part)) {
            case .success(let pieces): read.append(pieces)
            case .failure(var failure):
                failure.column += column
                return .failure(failure)
            }
            column += part.unicodeScalars.count + 1
        }
        var rest = read[...]
        return .success(pieces { _ in rest.popFirst() ?? [] })
    }

    private var lines: [Substring] { editor.text.split(separator: "\n", omittingEmptySubsequences: false) }

    private func pieces(_ read: (Substring) -> [MessagePiece]) -> [MessagePiece] {
        let inner = endingInForce == .none ? LineEnding.lf.bytes : ending.bytes
        var all: [MessagePiece] = []
        for (index, line) in lines.enumerated() {
            if index > 0 { all.add(inner) }
            for piece in read(line) {
                if case .bytes(let bytes) = piece { all.add(bytes) } else { all.append(piece) }
            }
        }
        return all
    }

    /// What a message of these bytes is: text, unless it was written as bytes, or is no text.
    package func messageType(of bytes: [UInt8]) -> WebSocketMessageType {
        switch mode {
        case .text, .escapes: WebSocketMessage.type(of: bytes)
        case .hex, .file: .binary
        }
    }

    /// What Enter sends.
    package var message: Result<[MessagePiece], EscapedText.Failure> {
        body.map { body in
            var message = body
            message.add(endingInForce.bytes)
            return message
        }
    }

    /// Remembers the line, empties the field and counts on.
    package mutating func sent() {
        origins[editor.text] = line
        if origins.count > 2 * LineEditor.historyLimit {
            let kept = Set(editor.history)
            origins = origins.filter { kept.contains($0.key) }
        }
        editor.commit()
        nextTag += readAfter == nil ? 1 : 2
        sequence += 1
        readAfter = nil
    }
}
