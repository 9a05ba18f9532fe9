import SocketCore
import SocketWorkshop

/// An automatic reply: `when /re/ send X`.
package struct ReplyRule: Equatable, Sendable {
    /// The pattern, matched with the bytes of each read separately.
    package var pattern: Pattern
    /// The reply as typed. `reply` is its parsed form.
    package var text: String
    package var reply: [MessagePiece]

    /// Throws if `pattern` is not a regular expression.
    package init(pattern: String, text: String, reply: [MessagePiece]) throws(Pattern.Failure) {
        self.pattern = try Pattern(pattern, .bytes)
        self.text = text
        self.reply = reply
    }

    package var words: String { "when /\(pattern.text)/ send \(text)" }
}

extension ReplyRule {
    /// Parses `when /re/ send X`, where X may contain escapes and macros.
    package static func parse(_ text: String) -> Result<ReplyRule, EscapedText.Failure> {
        let begin = "when /"
        let middle = "/ send "
        guard text.hasPrefix(begin),
            let end = text.indices.first(where: {
                $0 >= text.index(text.startIndex, offsetBy: 6) && text[$0...].hasPrefix(middle)
            })
        else { return .failure(.init(column: 1, message: "write when /regular expression/ send text")) }
        let pattern = String(text[text.index(text.startIndex, offsetBy: begin.count)..<end])
        let reply = String(text[text.index(end, offsetBy: middle.count)...])
        guard !pattern.isEmpty else { return .failure(.init(column: 7, message: "the regular expression is empty")) }
        switch MessageText.parse(reply) {
        case .failure(var failure):
            failure.column += begin.count + pattern.unicodeScalars.count + middle.count
            return .failure(failure)
        case .success(let pieces):
            guard !pieces.isEmpty, MessageText.preview(pieces, sequence: 1).files == 0 else {
                return .failure(.init(column: text.unicodeScalars.count, message: "a rule sends text, not files"))
            }
            do throws(Pattern.Failure) {
                return .success(try ReplyRule(pattern: pattern, text: reply, reply: pieces))
            } catch {
                return .failure(.init(column: 7, message: error.message))
            }
        }
    }
}
