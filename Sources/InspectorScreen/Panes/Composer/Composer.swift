import InspectorCore
import SocketCore

/// The line being typed to one connection, and how it is interpreted.
package struct Composer: Equatable, Sendable {
    package var editor = LineEditor() { didSet { summarize() } }
    package var mode = LineMode.text { didSet { summarize() } }
    /// The chosen line ending. See `endingInForce`.
    package var ending = LineEnding.crlf { didSet { summarize() } }
    /// The tag of the next read or write, unless another is requested.
    package var nextTag = 1
    /// The number of the next message on this connection, counted from 1.
    package var sequence = 1 { didSet { summarize() } }
    /// The pace of what is sent.
    package var pace = Pace()
    /// Whether each line is one WebSocket message, which has no line ending.
    package var sendsMessages = false { didSet { summarize() } }
    /// The destination of datagrams, or `nil` for the connected peer and for streams.
    package var destination: Endpoint?

    /// Whether bytes injected into a relayed pair go to the client instead of the server.
    package var injectsToClient = false
    /// The current search in the history.
    package var search: HistorySearch?

    /// The read after the line, from its template, or `nil` for none.
    package var readAfter: ReadRequest.Kind?
    /// The modes of the lines in the history.
    private var origins: [String: SentLine] = [:]
    /// The summary of the line, or `nil` in the modes that parse nothing. Parsing time grows with the length of the
    /// line, so the line is parsed once per change and not for each drawing.
    package private(set) var summary: Result<LineSummary, EscapedText.Failure>?
    private var summarized: LineSummary.Source?
    /// The number of times the line was parsed for its summary.
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

    /// Adds lines that were sent before, oldest first, and continues in the mode of the last one. A file is sent once, so
    /// its mode is not continued.
    package mutating func remember(_ lines: [SentLine]) {
        editor.remember(lines.map(\.text))
        for line in lines { origins[line.text] = line }
        if let last = lines.last { (mode, ending) = (last.mode == .file ? .text : last.mode, last.ending) }
    }

    /// Adopts the history and the modes of another composer.
    package mutating func inherit(_ other: Composer) {
        editor.remember(other.editor.history)
        (origins, mode, ending) = (other.origins, other.mode, other.ending)
    }

    /// Called when a line of the history is in the field. Restores its mode, but keeps the chosen ending.
    package mutating func recalled() {
        mode = origins[editor.text]?.mode ?? mode
    }

    /// The line in the form in which it is remembered.
    package var line: SentLine { SentLine(text: editor.text, mode: mode, ending: ending) }

    /// The ending that is added to the line. Nothing is added in the modes that define exact bytes.
    package var endingInForce: LineEnding {
        switch mode {
        case .text, .escapes: sendsMessages ? .none : ending
        case .hex, .file: .none
        }
    }

    /// The message of the line without its ending. Line feeds inside it become the chosen ending, or LF if that is
    /// none. Empty for a line in file mode.
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

    /// Returns the type of a message with these bytes: text, unless it was entered as bytes or is not valid text.
    package func messageType(of bytes: [UInt8]) -> WebSocketMessageType {
        switch mode {
        case .text, .escapes: WebSocketMessage.type(of: bytes)
        case .hex, .file: .binary
        }
    }

    /// The message that Enter sends. A line whose escapes end with the line ending has it already.
    package var message: Result<[MessagePiece], EscapedText.Failure> {
        body.map { body in
            let ending = endingInForce.bytes
            if mode == .escapes, lines.last?.isEmpty == false, case .bytes(let last)? = body.last,
                last.suffix(ending.count).elementsEqual(ending)
            {
                return body
            }
            var message = body
            message.add(ending)
            return message
        }
    }

    /// Remembers the line, clears the field and advances the counters.
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
