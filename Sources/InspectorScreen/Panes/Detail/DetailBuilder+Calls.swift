import InspectorCore
import SocketCore

/// The calls that the program makes on a connection, in the present only: they are not rewound.
extension DetailBuilder {
    var calls: [Row] {
        let shared = model.shared
        guard shared.child?.callLosses != nil, shared.rewind == nil, shared.frozen == nil else { return [] }
        let waiting = shared.calls.longestWaiting.filter { $0.isOn(socket) }
        let last = shared.calls.latest.last { $0.isOn(socket) }
        guard !waiting.isEmpty || last != nil else { return [] }
        var words = waiting.prefix(Self.mostWaiting).map { call in
            Line(call.sentence(at: model.now) + (waiting.count > 1 ? " (thread \(call.thread))" : ""), Style(.warn))
        }
        if waiting.count > Self.mostWaiting { words.append(Line("\(waiting.count - Self.mostWaiting) more wait")) }
        if let last { words.append(Line("last: " + last.sentence(at: model.now), Style(.dim))) }
        return [rule("calls")] + wrapped(words, separator: "   ")
    }

    private static let mostWaiting = 4
}

extension SocketCall {
    /// Whether it was made on a connection, of which either leg is given.
    func isOn(_ socket: SocketSnapshot) -> Bool { id == socket.id || id != nil && id == socket.linked }

    /// `recvfrom asked 1,024, waiting for 3.2s`, `sendto asked 88, got 88 in 54us`
    package func sentence(at now: MonotonicTime) -> String {
        let asked = kind.rawValue + (asked.map { " asked \(Format.grouped(Int($0)))" } ?? "")
        let time = took.map { " in \(Format.duration($0))" } ?? ""
        switch state {
        case .waits: return "\(asked), waiting for \(Format.duration(max(.zero, now - began)))"
        case .failed(let number): return "\(asked): \(ErrnoWords.name(number))\(time)"
        case .vanished: return "\(asked): its thread ended"
        case .returned: return asked + (returnedBytes.map { ", got \(Format.grouped(Int($0)))" } ?? "") + time
        }
    }
}
