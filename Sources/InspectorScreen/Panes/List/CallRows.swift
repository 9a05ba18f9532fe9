import InspectorCore
import SocketCore

/// The rows of `:calls`: one for each system call, with what it asked for and got.
enum CallRows {
    private static let timeWidth = 16
    private static let kindWidth = 11
    private static let numberWidth = 7
    /// The least width at which times of day are shown, too.
    private static let roomy = 76

    static func heading(_ width: Int) -> Line {
        var title = width >= roomy ? "  " + Format.padded("BEGAN", to: timeWidth) : " "
        title += " " + Format.padded("CALL", to: kindWidth)
        for word in ["FD", "ASKED", "GOT", "TOOK"] { title += " " + Format.padded(word, to: numberWidth, right: true) }
        return Line(title + "  RESULT", Style(.heading))
    }

    static func line(_ call: SocketCall, isSelected: Bool, _ width: Int, _ model: Model) -> Line {
        var line = Line(isSelected ? ">" : " ", Style(isSelected ? .cursor : .plain))
        if width >= roomy {
            line.append(" " + Format.padded(model.shownClock.text(call.began), to: timeWidth), Style(.dim))
        }
        line.append(" " + Format.padded(call.kind.rawValue, to: kindWidth), Style(.plain, [.bold]))
        func cell(_ text: String?) { line.append(" " + Format.padded(text ?? "-", to: numberWidth, right: true)) }
        cell("\(call.descriptor)")
        cell(call.messageAsked.map { Format.size(Int($0)) })
        cell(call.messageBytes.map { Format.size(Int($0)) })
        cell(call.messageTook.map { Format.duration($0) })
        line.append("  ")
        line.append(result(call, model))
        line.append("  \(call.process)" + (call.thread == call.process ? "" : "/\(call.thread)"), Style(.dim))
        if let poll = call.poll { line.append("  " + words(poll), Style(.dim)) }
        return line
    }

    private static func result(_ call: SocketCall, _ model: Model) -> Line {
        switch call.state {
        case .waits: Line("waits \(Format.duration(max(.zero, model.now - call.began)))", Style(.warn))
        case .failed(let number): Line(ErrnoWords.name(number), Style(number == Errno.again ? .dim : .warn))
        case .vanished: Line("its thread ended", Style(.dim))
        case .returned where call.gathered != nil: Line(call.pieces)
        case .returned: Line(call.returnedDescriptor.map { "fd \($0)" } ?? call.readyDescriptors.map(ready) ?? "ok")
        }
    }

    private static func ready(_ count: Int64) -> String { count == 0 ? "timed out" : "\(count) ready" }

    private static func words(_ poll: SocketCall.Poll) -> String {
        let limit = poll.timeout.map { "up to \(Format.duration($0))" }
        return [poll.descriptors.map { "\($0) fds" }, limit].compactMap { $0 }.joined(separator: ", ")
    }

    private enum Errno { static let again: Int32 = 11 }
}
