import InspectorCore
import SocketCore

/// The calls that the program makes on a connection.
extension DetailBuilder {
    var calls: [Row] {
        guard let ledger = model.shared.calls else { return [] }
        let waiting = ledger.longestWaiting.filter { $0.isOn(socket) }
        let last = ledger.latest.last { $0.isOn(socket) }
        guard !waiting.isEmpty || last != nil else { return [] }
        var words = waiting.prefix(Self.mostWaiting).map { call in
            Line(call.sentence(at: model.now) + (waiting.count > 1 ? " (thread \(call.thread))" : ""), Style(.warn))
        }
        if waiting.count > Self.mostWaiting { words.append(Line("\(waiting.count - Self.mostWaiting) more wait")) }
        if let last { words.append(Line("last: " + last.sentence(at: model.now), Style(.dim))) }
        if let process = (waiting.first ?? last)?.process, ledger.losses.rings.contains(process) {
            words.append(Line("calls through io_uring are not seen", Style(.warn)))
        }
        return [rule("calls")] + wrapped(words, separator: "   ")
    }

    private static let mostWaiting = 4
}

extension SocketCall {
    /// Whether it was made on a connection, of which either leg is given.
    func isOn(_ socket: SocketSnapshot) -> Bool { id == socket.id || id != nil && id == socket.linked }

    /// `recvfrom asked 1,024, waiting for 3.2s`, `recvfrom has 37 of 1,024 for 3.2s, 2 calls`, `sendto asked 88, got 88 in
    /// 54us`, `poll of 2 descriptors for up to 5s, waiting for 3.2s`
    package func sentence(at now: MonotonicTime) -> String {
        let time = took.map { " in \(Format.duration($0))" } ?? ""
        let waited = Format.duration(max(.zero, now - began))
        switch state {
        case .waits where gathered != nil: return "\(kind.rawValue) \(progress) for \(waited), \(pieces)"
        case .waits: return "\(question), waiting for \(waited)"
        case .failed(let number): return "\(question): \(ErrnoWords.name(number))\(time)" + whole
        case .vanished: return "\(question): its thread ended"
        case .returned: return question + answer + time + whole
        }
    }

    /// What it asks for.
    private var question: String {
        guard let poll else { return kind.rawValue + (asked.map { " asked \(Format.grouped(Int($0)))" } ?? "") }
        let what = poll.descriptors.map { " of " + Format.count($0, "descriptor") } ?? ""
        return kind.rawValue + what + (poll.timeout.map { " for up to \(Format.duration($0))" } ?? "")
    }

    private var answer: String {
        if let ready = readyDescriptors { return ready == 0 ? ", timed out" : ", \(ready) ready" }
        return returnedBytes.map { ", got \(Format.grouped(Int($0)))" } ?? ""
    }

    /// How much there is of a message that is read in pieces.
    var progress: String { "has \(count(messageBytes)) of \(count(messageAsked))" }

    private func count(_ bytes: Int64?) -> String { Format.grouped(Int(bytes ?? 0)) }

    var pieces: String { Format.count((gathered?.calls ?? 0) + 1, "call") }

    private var whole: String { gathered == nil ? "" : "; \(progress), \(pieces)" }
}
